import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { arrive, grant } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let owner: Account;
let guest: Account;
let stranger: Account;
let editor: Account;
let asset: { id: string };

const path = (ref: number) => `/assets/${asset.id}/shares/${ref}`;
const put = (who: Visitor, ref: number, body?: unknown) => who.send(path(ref), { method: 'PUT', body });
const statusFor = async (who: Visitor, at = `/assets/${asset.id}`) => (await who.send(at)).status;
/** Returns a time in whole seconds, because the service omits trailing zeros of milliseconds. */
const later = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`;

/** Moves the expiry of every share of the asset into the past. */
const expireShares = () =>
  sql`update asset_shares set expires_at = now() - interval '1 second' where asset_id = ${asset.id}`.execute(
    library.deps.db,
  );

beforeAll(async () => {
  library = await openLibrary();
  owner = await arrive(library, 'owner');
  guest = await arrive(library, 'guest');
  stranger = await arrive(library, 'stranger');
  editor = await arrive(library, 'editor');
  await grant(library, editor, 'assets.admin');
});

beforeEach(async () => {
  asset = await upload(owner, await jpeg(60, 40), { sensitivity: 'posts' });
  await library.runJobs();
});

// LINK-15
describe('PUT /assets/{id}/shares/{user_ref}', () => {
  // ASSET-9
  test.each(['posts', 'restricted', 'team', 'org'] as const)(
    'gives an asset of sensitivity %s to the named account alone: columns, bytes and lists',
    async (sensitivity) => {
      await owner.ok('updateAsset', { params: { id: asset.id }, body: { sensitivity } });
      expect((await put(owner, guest.ref)).status).toBe(201);
      const shown = await guest.ok('getAsset', { params: { id: asset.id } });
      expect(shown).toMatchObject({ restricted: false, preview_available: true });
      expect(await statusFor(guest, `/assets/${asset.id}/file`)).toBe(200);
      const listed = await guest.ok('listAssets', { query: { limit: 200 } });
      expect(listed.items.find(({ id }) => id === asset.id)).toMatchObject({ restricted: false });
      const bytes = await statusFor(stranger, `/assets/${asset.id}/file`);
      expect(bytes).toBe(sensitivity === 'org' ? 200 : 404);
    },
  );

  // LINK-15
  test('returns 200 for a repetition, which replaces the expiry', async () => {
    const until = later(2);
    const first = await put(owner, guest.ref, { expires_at: until });
    expect([first.status, JSON.parse(first.text).expires_at]).toEqual([201, until]);
    const again = await put(editor, guest.ref);
    expect([again.status, JSON.parse(again.text).expires_at]).toEqual([200, null]);
  });

  // ASSET-10, LINK-15
  test('refuses a time in the past, an unknown account and callers who may not change the asset', async () => {
    expect((await put(owner, guest.ref, { expires_at: later(-1) })).status).toBe(400);
    expect((await put(owner, guest.ref, { expires_at: 'tomorrow' })).status).toBe(400);
    expect((await put(owner, guest.ref, { until: later(1) })).status).toBe(400);
    expect((await put(owner, 999_999_999)).status).toBe(404);
    expect((await put(stranger, guest.ref)).status).toBe(404);
    await put(owner, guest.ref);
    expect((await put(guest, stranger.ref)).status).toBe(403);
    expect(await statusFor(stranger)).toBe(404);
  });

  // ASSET-9
  test('does not give mature bytes to an account that has not opted in', async () => {
    await owner.ok('updateAsset', { params: { id: asset.id }, body: { mature: true } });
    await put(owner, guest.ref);
    expect(await statusFor(guest)).toBe(200);
    expect(await statusFor(guest, `/assets/${asset.id}/file`)).toBe(404);
  });

  test('writes audit events that name the account', async () => {
    await put(owner, guest.ref, { expires_at: later(1) });
    await owner.ok('deleteAssetShare', { params: { id: asset.id, user_ref: guest.ref } });
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'subject_user_ref'])
      .where('target_id', '=', asset.id)
      .where('event', 'like', 'asset.%shared')
      .orderBy('occurred_at')
      .execute();
    const people = { actor_user_ref: owner.ref, subject_user_ref: guest.ref };
    expect(events).toEqual([
      { event: 'asset.shared', ...people },
      { event: 'asset.unshared', ...people },
    ]);
  });
});

// ASSET-9
describe('a share of an asset', () => {
  // ASSET-9
  test('ends at its expiry, for reads and in the list of shares', async () => {
    await put(owner, guest.ref, { expires_at: later(1) });
    expect(await statusFor(guest)).toBe(200);
    await expireShares();
    expect(await statusFor(guest)).toBe(404);
    expect(await statusFor(owner, path(guest.ref))).toBe(404);
    expect((await owner.ok('listAssetShares', { params: { id: asset.id } })).items).toEqual([]);
    expect((await owner.send(path(guest.ref), { method: 'DELETE' })).status).toBe(404);
    expect((await put(owner, guest.ref)).status).toBe(201);
    expect(await statusFor(guest)).toBe(200);
  });

  test('ends when it is deleted', async () => {
    await put(owner, guest.ref);
    expect((await owner.send(path(guest.ref), { method: 'DELETE' })).status).toBe(204);
    expect(await statusFor(guest)).toBe(404);
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
  test('is paginated, and listed only for the owner and assets.admin', async () => {
    for (const { ref } of [guest, stranger, editor]) await put(owner, ref);
    const first = await owner.ok('listAssetShares', { params: { id: asset.id }, query: { limit: 2 } });
    const cursor = first.next_cursor ?? '';
    const second = await editor.ok('listAssetShares', {
      params: { id: asset.id },
      query: { limit: 2, cursor },
    });
    const refs = [...first.items, ...second.items].map(({ user_ref }) => user_ref);
    expect(refs).toEqual([guest.ref, stranger.ref, editor.ref].sort((a, b) => a - b));
    expect(await statusFor(guest, `/assets/${asset.id}/shares`)).toBe(403);
    expect(await statusFor(library.anonymous(), `/assets/${asset.id}/shares`)).toBe(401);
  });
});
