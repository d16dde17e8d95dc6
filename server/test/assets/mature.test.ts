import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

/** The access matrix covers who is served mature assets, with the setting of the library on and off. */

const optIn = (account: Account, show: boolean) =>
  account.ok('updatePreferences', { body: { mature_content: { show } } });
const allow = (allowed: boolean) => root.ok('setMatureContent', { body: { allowed } });
const add = (text: string, fields: Record<string, string> = {}) =>
  upload(owner, plainFile(text), { mature: 'true', ...fields });
const status = (visitor: Visitor, { id }: { id: string } = picture) =>
  visitor.status('GET', `/assets/${id}/file`);

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [owner, curious, plain] = await library.joinAll('owner', 'curious', 'plain');
await optIn(curious, true);
const picture = await upload(owner, await jpeg(90, 60), { mature: 'true' });
await library.runJobs();

// ASSET-6, ASSET-8, FILE-3
test('shows columns and blur of a mature picture to all readers, and serves its bytes only to those who opted in', async () => {
  const post = await publish(owner, [picture], { visibility: 'public' });
  const none = await plain.send(`/assets/${crypto.randomUUID()}/file`);
  for (const [visitor, served] of [
    [plain, false],
    [curious, true],
    [owner, true],
  ] as const) {
    const asset = await visitor.ok('getAsset', { params: { id: picture.id } });
    expect(asset).toMatchObject({
      title: picture.title,
      mature: true,
      thumbhash: expect.stringMatching(/^[A-Za-z0-9+/=]{20,}$/),
      pixel_width: 90,
      preview_available: served,
      ladder_available: served,
      scrub_available: false,
      // Refers to the row, which strangers do see.
      anonymously_visible: true,
    });
    // RELATED-1: members of posts do not have the related files.
    if (asset.restricted) throw new Error('the asset is withheld');
    const { related: _, ...shown } = asset;
    const member = { asset_id: picture.id, sort_order: 0, restricted: false, asset: shown };
    expect((await visitor.ok('getPost', { params: { id: post.id } })).members).toEqual([member]);
    for (const [path, due, init] of [
      ['file', 200, {}],
      ['file?download=true', 200, {}],
      ['variants/col', 200, {}],
      ['variants/hires', 200, {}],
      ['file', 206, { headers: { range: 'bytes=0-9' } }],
      ['file', 304, { headers: { 'if-none-match': `"${picture.file_hash}"` } }],
      ['file', 200, { method: 'HEAD' }],
    ] as const) {
      const answer = await visitor.send(`/assets/${picture.id}/${path}`, init);
      expect([path, answer.status]).toEqual([path, served ? due : 404]);
      if (served || 'method' in init) continue;
      expect([answer.text, answer.headers.get('etag')]).toEqual([none.text, null]);
    }
  }
});

describe('the mature rating', () => {
  // ASSET-7, ASSET-8, ASSET-11
  test('is not a clearance, nor its lack: a restricted asset needs both', async () => {
    const hidden = await add('restricted', { sensitivity: 'restricted' });
    const placeholder = { id: hidden.id, restricted: true, owner_display_name: 'owner' };
    expect(await curious.ok('getAsset', { params: { id: hidden.id } })).toEqual(placeholder);
    const reader = await library.join('reader');
    await grant(library, reader, 'content.read.all');
    expect([await status(curious, hidden), await status(reader, hidden)]).toEqual([404, 404]);
    await optIn(reader, true);
    expect(await status(reader, hidden)).toBe(200);
  });

  // ASSET-7
  test('belongs to the asset, not to the bytes, and takes effect immediately', async () => {
    const body = { file_hash: picture.file_hash ?? '', sensitivity: 'public' as const };
    const twin = await owner.ok('createAsset', { body });
    expect(twin).toMatchObject({ mature: false, preview_available: true });
    expect([await status(plain, twin), await status(plain)]).toEqual([200, 404]);
    const headers = { 'if-none-match': `"${picture.file_hash}"` };
    for (const [mature, due] of [
      [true, 404],
      [false, 304],
    ] as const) {
      await owner.ok('updateAsset', { params: { id: twin.id }, body: { mature } });
      expect((await plain.send(`/assets/${twin.id}/file`, { headers })).status).toBe(due);
    }
  });
});

// ADMIN-3, SESSION-11
test('the setting of the library and the preference take effect at the next request', async () => {
  // Allowed by default.
  expect(await root.ok('getMatureContent')).toEqual({ allowed: true });
  const fickle = await library.join('fickle');
  await optIn(fickle, true);
  expect(await status(fickle)).toBe(200);
  await allow(false);
  expect(await status(fickle)).toBe(404);
  // The setting keeps the preferences.
  const me = { mature_content: { show: true }, mature_content_allowed: false };
  expect(await fickle.ok('getMe')).toMatchObject(me);
  await allow(true);
  await fickle.ok('updatePreferences', { body: { language: 'de' } });
  expect(await status(fickle)).toBe(200);
  await optIn(fickle, false);
  expect(await status(fickle)).toBe(404);
  expect(await auditEvents(library, { event: 'system.mature_content.changed' })).toMatchObject([
    { actor_user_ref: root.ref, metadata: { allowed: false } },
    { actor_user_ref: root.ref, metadata: { allowed: true } },
  ]);
});
