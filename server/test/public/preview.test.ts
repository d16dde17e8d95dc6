import { beforeAll, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, unknownBytes } from '../support/pictures.ts';

let library: Library;
let root: Account;
let ines: Account;
const posts: Record<string, string> = {};
const assets: Record<string, string> = {};

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  ines = await library.join('ines');
  const add = async (name: string, fields: Record<string, string> = {}) => {
    const asset = await upload(ines, await jpeg(40 + Object.keys(assets).length, 30), {
      title: name,
      ...fields,
    });
    assets[name] = asset.id;
    return asset;
  };
  const post = async (name: string, members: { id: string }[], body: object) => {
    posts[name] = (await publish(ines, members, { title: name, ...body })).id;
  };
  await add('lone public');
  await add('lone');
  assets.text = (
    await upload(ines, unknownBytes(), { title: 'text', sensitivity: 'public' }, 'notes.txt')
  ).id;
  await post('public', [await add('follows public', { sensitivity: 'posts' })], { visibility: 'public' });
  await post('here', [await add('follows here', { sensitivity: 'posts' })], { visibility: 'org-only' });
  await post('private', [await add('follows private', { sensitivity: 'posts' })], { visibility: 'private' });
  await post('draft', [await add('follows draft', { sensitivity: 'posts' })], {
    visibility: 'public',
    draft: true,
  });
  await post('mature', [await add('mature', { mature: 'true' })], { visibility: 'public' });
  await post('withheld', [await add('restricted', { sensitivity: 'restricted' })], { visibility: 'public' });
  await library.runJobs();
  await ines.ok('updateAsset', { params: { id: assets.lone ?? '' }, body: { sensitivity: 'org' } });
  const collection = await ines.ok('createCollection', { body: { name: 'open', visibility: 'public' } });
  await ines.ok('createCollection', { body: { name: 'closed', visibility: 'private' } });
  expect(collection.visibility).toBe('public');
  const hidden = await library.join('hidden');
  await library.database.db
    .updateTable('users')
    .set({ hide_from_anonymous: true })
    .where('ref', '=', hidden.ref)
    .execute();
});

// PUBLIC-4
test('the preview counts and shows exactly what visitors may see', async () => {
  const preview = await root.ok('previewPublicMode');
  expect(preview).toMatchObject({
    enabled: false,
    posts: { count: 2, capped: false },
    assets: { count: 4, capped: false },
    collections: { count: 1, capped: false },
    people: { count: 2, capped: false },
  });
  expect(preview.sample.map(({ kind, title, picture_asset_id }) => [kind, title, picture_asset_id])).toEqual([
    ['post', 'mature', null],
    ['post', 'public', assets['follows public']],
    ['asset', 'mature', null],
    ['asset', 'follows public', assets['follows public']],
    ['asset', 'text', null],
    ['asset', 'lone public', assets['lone public']],
  ]);
});

// PUBLIC-2
test('a visitor sees exactly what the preview showed once public mode is on', async () => {
  const { sample } = await root.ok('previewPublicMode');
  await library.setPublicMode(true);
  const visitor = library.anonymous();
  for (const { kind, id, picture_asset_id } of sample) {
    expect((await visitor.send(`/${kind}s/${id}`)).status).toBe(200);
    if (picture_asset_id !== null)
      expect((await visitor.send(`/assets/${picture_asset_id}/variants/col`)).status).toBe(200);
  }
  const feed = await visitor.ok('listPosts');
  expect(feed.items.map(({ id }) => id)).toEqual([posts.mature, posts.public]);
  expect((await root.ok('previewPublicMode')).enabled).toBe(true);
  await library.setPublicMode(false);
});

test('the sample has at most twelve items', async () => {
  const many = Array.from({ length: 10 }, (_, index) => index);
  for (const index of many)
    await publish(ines, [{ id: assets.text ?? '' }], { title: `word ${index}`, visibility: 'public' });
  const { sample } = await root.ok('previewPublicMode');
  expect(sample.filter(({ kind }) => kind === 'post')).toHaveLength(8);
  expect(sample).toHaveLength(12);
});

test('the preview requires the right to read the configuration', async () => {
  expect((await ines.refused('previewPublicMode')).status).toBe(403);
  expect((await library.anonymous().refused('previewPublicMode')).status).toBe(401);
});
