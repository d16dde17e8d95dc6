import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let asset: { id: string };

const library = await openLibrary();
const [owner, guest, stranger, editor] = await library.joinAll('owner', 'guest', 'stranger', 'editor');
await grant(library, editor, 'assets.admin');

beforeEach(async () => {
  asset = await upload(owner, plainFile(), { sensitivity: 'posts' });
});

const path = (ref: number) => `/assets/${asset.id}/shares/${ref}`;
const put = (who: Visitor, ref: number, body?: unknown) => who.send(path(ref), { method: 'PUT', body });
const statusFor = (who: Visitor, rest = '') => who.status('GET', `/assets/${asset.id}${rest}`);
/** Returns a time in whole seconds, because the service omits trailing zeros of milliseconds. */
const later = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`;

describe('PUT /assets/{id}/shares/{user_ref}', () => {
  // ASSET-9, LINK-15
  test('gives an asset of any sensitivity to the named account alone, except for mature bytes', async () => {
    expect((await put(owner, guest.ref)).status).toBe(201);
    for (const sensitivity of ['posts', 'restricted', 'team'] as const) {
      await owner.ok('updateAsset', { params: { id: asset.id }, body: { sensitivity } });
      const shown = await guest.ok('getAsset', { params: { id: asset.id } });
      expect([sensitivity, shown.restricted]).toEqual([sensitivity, false]);
      const { items } = await guest.ok('listAssets', { query: { limit: 200 } });
      expect({ ...items.find(({ id }) => id === asset.id), related: [] }).toEqual(shown);
      expect([await statusFor(guest, '/file'), await statusFor(stranger, '/file')]).toEqual([200, 404]);
    }
    await owner.ok('updateAsset', { params: { id: asset.id }, body: { mature: true } });
    expect([await statusFor(guest), await statusFor(guest, '/file')]).toEqual([200, 404]);
  });

  // LINK-15, AUDIT-1
  test('returns 200 for a repetition, which replaces the expiry, and is audited with the account', async () => {
    const until = later(2);
    const first = await put(owner, guest.ref, { expires_at: until });
    expect([first.status, JSON.parse(first.text).expires_at]).toEqual([201, until]);
    for (let times = 0; times < 2; times += 1) {
      const again = await put(editor, guest.ref);
      expect([again.status, JSON.parse(again.text).expires_at]).toEqual([200, null]);
    }
    expect(await owner.status('DELETE', path(guest.ref))).toBe(204);
    expect(await statusFor(guest)).toBe(404);
    const events = await auditEvents(library, { target_id: asset.id, subject_user_ref: guest.ref });
    expect(events.map(({ event, actor_user_ref }) => [event, actor_user_ref])).toEqual([
      ['asset.shared', owner.ref],
      ['asset.shared', editor.ref],
      ['asset.unshared', owner.ref],
    ]);
  });

  // ASSET-10, LINK-15
  test('refuses a time in the past, an unknown account and callers who may not change the asset', async () => {
    expect((await put(owner, guest.ref, { expires_at: later(-1) })).status).toBe(400);
    expect((await put(owner, 999_999_999)).status).toBe(404);
    expect((await put(stranger, guest.ref)).status).toBe(404);
    await put(owner, guest.ref);
    expect((await put(guest, stranger.ref)).status).toBe(403);
    expect(await statusFor(stranger)).toBe(404);
  });
});

describe('a share of an asset', () => {
  // ASSET-9
  test('ends at its expiry, for reads and in the list of shares', async () => {
    await put(owner, guest.ref, { expires_at: later(1) });
    expect(await statusFor(guest)).toBe(200);
    await sql`update asset_shares set expires_at = now() - interval '1 second'`.execute(library.deps.db);
    expect(await statusFor(guest)).toBe(404);
    expect(await owner.status('GET', path(guest.ref))).toBe(404);
    expect((await owner.ok('listAssetShares', { params: { id: asset.id } })).items).toEqual([]);
    expect(await owner.status('DELETE', path(guest.ref))).toBe(404);
    expect((await put(owner, guest.ref)).status).toBe(201);
    expect(await statusFor(guest)).toBe(200);
  });

  // ASSET-10
  test('lets the account post the asset, without passing it on to readers of that post', async () => {
    await put(owner, guest.ref);
    const post = await publish(guest, [asset], { visibility: 'public' });
    const seen = await stranger.ok('getPost', { params: { id: post.id } });
    expect(seen.members).toMatchObject([{ asset_id: asset.id, restricted: true }]);
    expect(await statusFor(stranger)).toBe(404);
  });

  // ASSET-10
  test('is listed in pages, only for the owner and assets.admin', async () => {
    for (const { ref } of [guest, stranger, editor]) await put(owner, ref);
    const params = { id: asset.id };
    const first = await owner.ok('listAssetShares', { params, query: { limit: 2 } });
    const query = { limit: 2, cursor: first.next_cursor ?? '' };
    const second = await editor.ok('listAssetShares', { params, query });
    const refs = [...first.items, ...second.items].map(({ user_ref }) => user_ref);
    expect(refs).toEqual([guest.ref, stranger.ref, editor.ref].sort((a, b) => a - b));
    expect(await statusFor(guest, '/shares')).toBe(403);
  });
});
