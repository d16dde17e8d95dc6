import type { ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let library: Library;
let root: Account;
let owner: Account;
let curious: Account;
let plain: Account;
let picture: ShownAsset;
const people = new Map<string, Visitor>();

function person(name: string): Visitor {
  const visitor = people.get(name);
  if (visitor === undefined) throw new Error(`nobody called ${name}`);
  return visitor;
}

const optIn = (account: Account, show: boolean) =>
  account.ok('updatePreferences', { body: { mature_content: { show } } });
const allow = (allowed: boolean) => root.ok('setMatureContent', { body: { allowed } });

async function rated(fields: Record<string, string> = {}, seed = 1): Promise<ShownAsset> {
  const { id } = await upload(owner, await jpeg(90, 60, { seed }), { mature: 'true', ...fields });
  await library.runJobs();
  const asset = await owner.ok('getAsset', { params: { id } });
  if (asset.restricted) throw new Error('withheld from its owner');
  return asset;
}

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  owner = await library.join('owner');
  curious = await library.join('curious');
  plain = await library.join('plain');
  const team = await addTeam(library, 'studio', [owner]);
  await optIn(curious, true);
  picture = await rated({ team_id: team });
  for (const [name, visitor] of [
    ['anonymous', library.anonymous()],
    ['who did not ask for it', plain],
    ['who asked for it', curious],
    ['the owner', owner],
    ['system.admin', root],
  ] as const) {
    people.set(name, visitor);
  }
});

/** ASSET-6. The access matrix covers the other kinds of callers. */
const always = ['the owner', 'system.admin'];
const asked = ['who asked for it'];
const never = ['anonymous', 'who did not ask for it'];

/** Returns the status of every way to request the bytes. */
async function doors(visitor: Visitor, id: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const path of [
    'file',
    'file?download=true',
    'variants/col',
    'variants/preview',
    'variants/screen',
    'variants/hires',
  ])
    found[path] = (await visitor.send(`/assets/${id}/${path}`)).status;
  found.range = (await visitor.send(`/assets/${id}/file`, { headers: { range: 'bytes=0-9' } })).status;
  found.cached = (
    await visitor.send(`/assets/${id}/file`, { headers: { 'if-none-match': `"${picture.file_hash}"` } })
  ).status;
  found.head = (await visitor.send(`/assets/${id}/file`, { method: 'HEAD' })).status;
  return found;
}

const open = {
  file: 200,
  'file?download=true': 200,
  'variants/col': 200,
  'variants/preview': 200,
  'variants/screen': 200,
  'variants/hires': 200,
  range: 206,
  cached: 304,
  head: 200,
};
const shut = Object.fromEntries(Object.keys(open).map((door) => [door, 404]));

// ASSET-6
describe.each([true, false])('the library allows mature content: %s', (allowed) => {
  beforeAll(async () => {
    await allow(allowed);
    await library.setPublicMode(true);
    return () => library.setPublicMode(false);
  });

  // ASSET-6
  test.each([...never, ...asked, ...always])('%s', async (name) => {
    const served = always.includes(name) || (allowed && asked.includes(name));
    const visitor = person(name);
    const single = await visitor.ok('getAsset', { params: { id: picture.id } });
    if (single.restricted) throw new Error('a rating is not a clearance, nor its lack');
    // All callers see the columns, including the blurred placeholder; only the bytes are withheld.
    expect(single).toMatchObject({
      title: picture.title,
      mature: true,
      thumbhash: picture.thumbhash,
      pixel_width: 90,
      pixel_height: 60,
      preview_available: served,
      ladder_available: served,
      scrub_available: false,
      // Refers to the row, which strangers do see.
      anonymously_visible: true,
    });
    expect(single.thumbhash).toMatch(/^[A-Za-z0-9+/=]{20,}$/);
    expect(await doors(visitor, picture.id)).toEqual(served ? open : shut);
    const { items } = await visitor.ok('listAssets', { query: { limit: 200 } });
    expect(items.find(({ id }) => id === picture.id)).toEqual(single);
  });

  test.each([...never, ...asked, ...always])('%s, where it is a member of a post', async (name) => {
    const served = always.includes(name) || (allowed && asked.includes(name));
    const visitor = person(name);
    const post = await publish(owner, [picture], { visibility: 'public' });
    const asset = await visitor.ok('getAsset', { params: { id: picture.id } });
    const member = { asset_id: picture.id, sort_order: 0, restricted: false, asset };
    expect(asset).toMatchObject({ preview_available: served });
    expect((await visitor.ok('getPost', { params: { id: post.id } })).members).toEqual([member]);
    const feed = await visitor.ok('listPosts', { query: { limit: 1 } });
    expect(feed.items.map(({ id, members }) => ({ id, members }))).toEqual([
      { id: post.id, members: [member] },
    ]);
    const [found] = await visitor.ok('listPostsByAsset', { params: { id: picture.id } });
    expect(found?.members).toEqual([member]);
  });
});

describe('the rating', () => {
  beforeEach(() => allow(true));

  // ASSET-6, FILE-3
  test('returns the same 404 for its bytes as for an unknown asset', async () => {
    for (const path of ['file', 'variants/col']) {
      const refused = await plain.send(`/assets/${picture.id}/${path}`);
      const missing = await plain.send(`/assets/${crypto.randomUUID()}/${path}`);
      expect([refused.status, refused.text]).toEqual([missing.status, missing.text]);
      expect(refused.headers.get('etag')).toBeNull();
    }
  });

  // ASSET-7, ASSET-8
  test('does not reveal withheld assets to callers who opted in', async () => {
    const hidden = await rated({ sensitivity: 'restricted' }, 2);
    const placeholder = { id: hidden.id, restricted: true, owner_display_name: 'owner' };
    expect(await curious.ok('getAsset', { params: { id: hidden.id } })).toEqual(placeholder);
    expect(await doors(curious, hidden.id)).toEqual(shut);
    expect((await doors(root, hidden.id)).file).toBe(200);
  });

  // ASSET-7, ASSET-11
  test('allows content.read.all to see restricted assets after an opt-in', async () => {
    const hidden = await rated({ sensitivity: 'restricted' }, 3);
    const reader = await library.join('second reader');
    await grant(library, reader, 'content.read.all');
    expect((await doors(reader, hidden.id)).file).toBe(404);
    await optIn(reader, true);
    expect((await doors(reader, hidden.id)).file).toBe(200);
  });

  test('takes effect immediately, and so does its removal', async () => {
    const mild = await upload(owner, await jpeg(90, 60, { seed: 4 }));
    await library.runJobs();
    const etag = `"${mild.file_hash}"`;
    const status = async () => {
      const answer = await plain.send(`/assets/${mild.id}/file`, { headers: { 'if-none-match': etag } });
      return [answer.status, (await plain.send(`/assets/${mild.id}/variants/col`)).status];
    };
    const rate = (mature: boolean) => owner.ok('updateAsset', { params: { id: mild.id }, body: { mature } });
    expect(await status()).toEqual([304, 200]);
    await rate(true);
    expect(await status()).toEqual([404, 404]);
    await rate(false);
    expect(await status()).toEqual([304, 200]);
  });

  test('also withholds the bytes of other files, which have no thumbhash', async () => {
    const text = await upload(owner, plainText('not for everybody\n'), { mature: 'true' }, 'a.txt');
    expect(await plain.ok('getAsset', { params: { id: text.id } })).toMatchObject({
      thumbhash: null,
      preview_available: false,
      file_hash: text.file_hash,
    });
    expect((await plain.send(`/assets/${text.id}/file`)).status).toBe(404);
    expect((await curious.send(`/assets/${text.id}/file`)).status).toBe(200);
  });

  // ASSET-7
  test('belongs to the asset, not to the bytes', async () => {
    const twin = await owner.ok('createAsset', {
      body: { file_hash: picture.file_hash ?? '', sensitivity: 'public' },
    });
    expect(twin).toMatchObject({ mature: false, preview_available: true });
    expect((await plain.send(`/assets/${twin.id}/file`)).status).toBe(200);
    expect((await plain.send(`/assets/${picture.id}/file`)).status).toBe(404);
  });
});

// ADMIN-3
describe('the setting of the library and the preference', () => {
  const status = async (visitor: Visitor) => (await visitor.send(`/assets/${picture.id}/file`)).status;

  // ADMIN-3
  test('take effect at the next request, and the setting keeps the preferences', async () => {
    const fickle = await library.join('fickle');
    await allow(true);
    expect(await status(fickle)).toBe(404);
    await optIn(fickle, true);
    expect(await status(fickle)).toBe(200);
    await allow(false);
    expect(await status(fickle)).toBe(404);
    expect(await fickle.ok('getMe')).toMatchObject({
      mature_content: { show: true },
      mature_content_allowed: false,
    });
    await allow(true);
    expect(await status(fickle)).toBe(200);
    await optIn(fickle, false);
    expect(await status(fickle)).toBe(404);
    await fickle.ok('updatePreferences', { body: { mature_content: { show: true } } });
    await fickle.ok('updatePreferences', { body: { language: 'de' } });
    expect(await status(fickle)).toBe(200);
  });

  // SESSION-11
  test('mature content is allowed by default', async () => {
    await library.deps.db.deleteFrom('settings').where('key', '=', 'mature_allowed').execute();
    expect(await root.ok('getMatureContent')).toEqual({ allowed: true });
    expect(await status(curious)).toBe(200);
  });

  // ADMIN-3
  test('the setting requires system.config.read and system.config.write', async () => {
    const clerk = await library.join('clerk');
    expect(await clerk.refused('getMatureContent')).toEqual({
      status: 403,
      error: 'missing capability system.config.read',
    });
    await grant(library, clerk, 'system.config.read');
    await allow(false);
    expect(await clerk.ok('getMatureContent')).toEqual({ allowed: false });
    const turn = { body: { allowed: true } };
    expect(await clerk.refused('setMatureContent', turn)).toEqual({
      status: 403,
      error: 'missing capability system.config.write',
    });
    expect(await root.ok('getMatureContent')).toEqual({ allowed: false });
    await grant(library, clerk, 'system.config.write');
    expect(await clerk.ok('setMatureContent', turn)).toEqual({ allowed: true });
    expect((await library.anonymous().refused('getMatureContent')).status).toBe(401);
    expect((await library.anonymous().refused('setMatureContent', turn)).status).toBe(401);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['actor_user_ref', 'metadata'])
      .where('event', '=', 'system.mature_content.changed')
      .where('actor_user_ref', '=', clerk.ref)
      .execute();
    expect(events).toEqual([{ actor_user_ref: clerk.ref, metadata: { allowed: true } }]);
  });
});
