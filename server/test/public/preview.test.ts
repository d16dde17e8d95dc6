import { expect, test } from 'vitest';
import { openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, unknownBytes } from '../support/pictures.ts';

const posts: Record<string, string> = {};
const assets: Record<string, string> = {};

const library = await openLibrary();
const root = await library.join('root', 'admin');
const ines = await library.join('ines');
const add = async (title: string, fields: Record<string, string> = {}, bytes = unknownBytes()) => {
  const asset = await upload(ines, bytes, { title, ...fields });
  assets[title] = asset.id;
  return asset;
};
const post = async (name: string, member: { id: string }, body: object) => {
  posts[name] = (await publish(ines, [member], { title: name, ...body })).id;
};
const follows = { sensitivity: 'posts' };
await add('lone public', {}, await jpeg(41, 30));
await add('lone', { sensitivity: 'org' });
await add('text');
await post('public', await add('follows public', follows, await jpeg(42, 30)), { visibility: 'public' });
await post('here', await add('follows here', follows), { visibility: 'org-only' });
await post('private', await add('follows private', follows), { visibility: 'private' });
await post('draft', await add('follows draft', follows), { visibility: 'public', draft: true });
await post('mature', await add('mature', { mature: 'true' }, await jpeg(43, 30)), { visibility: 'public' });
await post('withheld', await add('restricted', { sensitivity: 'restricted' }), { visibility: 'public' });
await library.runJobs();
await ines.ok('createCollection', { body: { name: 'open', visibility: 'public' } });
await ines.ok('createCollection', { body: { name: 'closed', visibility: 'private' } });
const hidden = await library.join('hidden');
await hidden.ok('updateUser', { params: { ref: hidden.ref }, body: { hide_from_anonymous: true } });

// PUBLIC-2, PUBLIC-4
test('the preview counts and shows exactly what visitors see once public mode is on', async () => {
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

  await library.setPublicMode(true);
  const visitor = library.anonymous();
  for (const { kind, id, picture_asset_id } of preview.sample) {
    expect([kind, await visitor.status('GET', `/${kind}s/${id}`)]).toEqual([kind, 200]);
    if (picture_asset_id !== null)
      expect(await visitor.status('GET', `/assets/${picture_asset_id}/variants/col`)).toBe(200);
  }
  const feed = await visitor.ok('listPosts');
  expect(feed.items.map(({ id }) => id)).toEqual([posts.mature, posts.public]);
  expect((await root.ok('previewPublicMode')).enabled).toBe(true);
  await library.setPublicMode(false);
});

test('the sample has at most twelve items', async () => {
  for (let count = 0; count < 10; count += 1)
    await publish(ines, [{ id: assets.text ?? '' }], { visibility: 'public' });
  const { sample } = await root.ok('previewPublicMode');
  expect(sample.filter(({ kind }) => kind === 'post')).toHaveLength(8);
  expect(sample).toHaveLength(12);
});
