import type { CollectionUpdate } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { everyPost } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { collect, everyCollection, idsIn, move, put, takeOut } from './shelves.ts';

const another = (fields: Record<string, string> = {}) => upload(mara, picture, fields);
const get = (who: Visitor, id: string) => who.ok('getCollection', { params: { id } });
const edit = (id: string, body: CollectionUpdate) => mara.ok('updateCollection', { params: { id }, body });
const coversOf = async (who: Visitor, id: string) =>
  (await get(who, id)).covers.map(({ asset_id }) => asset_id);

const library = await openLibrary();
const [mara, ann, keeper] = await library.joinAll('mara', 'ann', 'keeper');
const root = await library.join('root', 'admin');
await keeper.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
const picture = await jpeg(60, 40);
const plain = await another();
await library.runJobs();
const restricted = await another({ sensitivity: 'restricted' });
await library.setPublicMode(true);

/** Returns what a collection shows a caller; fails unless all its operations agree. */
async function shows(who: Visitor, id: string): Promise<string[]> {
  const ids = await idsIn(who, id, 2);
  const collection = await get(who, id);
  const listed = (await everyCollection(who, { limit: 200 })).find((one) => one.id === id);
  expect(listed).toEqual(collection);
  expect(collection.item_count).toBe(ids.length);
  expect((await everyPost(who, { collection: id })).sort()).toEqual([...ids].sort());
  return ids;
}

// COLLECTION-5
test('a collection omits a draft and a post in the trash for everyone, and shows them in their places afterwards', async () => {
  const posts = [];
  for (const draft of [false, true, false]) posts.push(await publish(mara, [plain], { draft }));
  const ids = posts.map((post) => post.id);
  const [first = '', second = '', third = ''] = ids;
  const { id } = await collect(mara, 'with a draft', posts);
  for (const who of [mara, ann, root]) expect(await shows(who, id)).toEqual([first, third]);
  expect(await everyPost(mara, { collection: id, draft: true })).toEqual([]);
  await mara.ok('publishPost', { params: { id: second }, body: undefined });
  expect(await shows(ann, id)).toEqual(ids);
  await mara.ok('deletePost', { params: { id: second }, body: undefined });
  for (const who of [mara, ann, root]) expect(await shows(who, id)).toEqual([first, third]);
  await mara.ok('restorePost', { params: { id: second } });
  expect(await shows(ann, id)).toEqual(ids);
});

// COLLECTION-10
describe('covers', () => {
  // COLLECTION-10
  test('are up to four, in the order of the collection: thumbnail before cover before first member', async () => {
    const pictures = await Promise.all(Array.from({ length: 7 }, () => another()));
    const at = (index: number) => pictures[index] ?? plain;
    const posts = [
      await publish(mara, [at(0), at(1)]),
      await publish(mara, [at(0), at(2)], { cover_asset_id: at(2).id }),
      await publish(mara, [at(0), at(3)], { cover_asset_id: at(3).id, cover_thumbnail_asset_id: at(4).id }),
      await publish(mara, [at(5)]),
      await publish(mara, [at(6)]),
    ];
    const { id } = await collect(mara, 'mosaic', posts);
    expect(await coversOf(ann, id)).toEqual([at(0).id, at(2).id, at(4).id, at(5).id]);
    expect((await get(ann, id)).covers).toEqual(
      [0, 2, 4, 5].map((index) => ({ asset_id: at(index).id, preview_available: true })),
    );
    await takeOut(mara, id, posts[0]?.id ?? '');
    expect(await coversOf(ann, id)).toEqual([at(2).id, at(4).id, at(5).id, at(6).id]);
    // A deleted post provides no cover.
    await mara.ok('deleteAsset', { params: { id: at(4).id }, body: undefined });
    expect((await coversOf(ann, id))[1]).toBe(at(3).id);
  });

  // COLLECTION-10
  test('are only pictures that the caller may see, one per post', async () => {
    const [one, two] = [await another(), await another()];
    const thumb = await another({ sensitivity: 'restricted' });
    const posts = [
      await publish(mara, [restricted]),
      await publish(mara, [restricted, one], { cover_asset_id: restricted.id }),
      await publish(mara, [two], { cover_thumbnail_asset_id: thumb.id }),
    ];
    const { id } = await collect(mara, 'partly withheld', posts, { visibility: 'public' });
    expect(await coversOf(ann, id)).toEqual([one.id, two.id]);
    expect(await coversOf(keeper, id)).toEqual([one.id, two.id]);
    for (const who of [mara, root])
      expect(await coversOf(who, id)).toEqual([restricted.id, restricted.id, thumb.id]);
  });

  // ASSET-31
  test('have no preview if the caller may not see the picture or it has no rendition', async () => {
    const mature = await another({ mature: 'true' });
    const text = await upload(mara, plainFile());
    const posts = [await publish(mara, [mature]), await publish(mara, [text])];
    const { id } = await collect(mara, 'mature', posts);
    for (const [who, preview_available] of [
      [ann, false],
      [mara, true],
    ] as const)
      expect((await get(who, id)).covers).toEqual([
        { asset_id: mature.id, preview_available },
        { asset_id: text.id, preview_available: false },
      ]);
    expect((await collect(mara, 'nothing')).covers).toEqual([]);
  });
});

describe('a chosen cover comes first', () => {
  let posts: Post[];
  let id: string;
  const assetOf = (index: number) => posts[index]?.members[0]?.asset_id ?? '';
  const postAt = (index: number) => posts[index]?.id ?? '';

  beforeAll(async () => {
    posts = [];
    for (let n = 0; n < 6; n += 1)
      posts.push(await publish(mara, [await another()], { visibility: 'public' }));
    id = (await collect(mara, 'chosen', posts, { visibility: 'public' })).id;
  });

  test('comes first and once, and clear_cover removes it', async () => {
    const edited = await edit(id, { cover_post_id: postAt(5).toUpperCase() });
    expect(edited.cover_post_id).toBe(postAt(5));
    expect(await coversOf(ann, id)).toEqual([assetOf(5), assetOf(0), assetOf(1), assetOf(2)]);
    await edit(id, { cover_post_id: postAt(1) });
    expect(await coversOf(ann, id)).toEqual([assetOf(1), assetOf(0), assetOf(2), assetOf(3)]);
    const cleared = await edit(id, { clear_cover: true });
    expect([cleared.cover_post_id, cleared.covers[0]?.asset_id]).toEqual([null, assetOf(0)]);
  });

  // COLLECTION-11
  test('only a post of the collection can be chosen', async () => {
    const outside = await publish(mara, [plain]);
    for (const cover_post_id of [outside.id, id]) {
      const refused = await mara.refused('updateCollection', { params: { id }, body: { cover_post_id } });
      expect(refused).toEqual({ status: 400, error: 'cover_post_id is not one of its posts' });
    }
    expect((await get(mara, id)).cover_post_id).toBe(null);
  });

  // COLLECTION-11
  test('is hidden from callers who may not see its post, and the order decides', async () => {
    await edit(id, { cover_post_id: postAt(4), cover_focal_x: 0.1, cover_focal_y: 0.2 });
    await mara.ok('updatePost', { params: { id: postAt(4) }, body: { visibility: 'private' } });
    const seen = await get(ann, id);
    expect(seen).toMatchObject({ cover_post_id: null, cover_focal_x: null });
    expect(seen.covers[0]?.asset_id).toBe(assetOf(0));
    expect(await get(mara, id)).toMatchObject({ cover_post_id: postAt(4), cover_focal_x: 0.1 });
    await mara.ok('updatePost', { params: { id: postAt(4) }, body: { visibility: 'public' } });
    expect((await get(ann, id)).cover_post_id).toBe(postAt(4));
  });

  test('is removed with its post, and is not restored when the post is added again', async () => {
    await edit(id, { cover_post_id: postAt(4), cover_focal_x: 0.1, cover_focal_y: 0.2 });
    await takeOut(mara, id, postAt(4));
    const none = { cover_post_id: null, cover_focal_x: null, cover_focal_y: null };
    expect(await get(mara, id)).toMatchObject(none);
    await put(mara, id, postAt(4));
    expect((await get(mara, id)).cover_post_id).toBe(null);
  });

  test('leaves nothing behind when its post is purged', async () => {
    const post = await publish(mara, [plain]);
    await put(mara, id, post.id);
    await edit(id, { cover_post_id: post.id });
    await sql`delete from posts where id = ${post.id}`.execute(library.deps.db);
    expect(await get(mara, id)).toMatchObject({ cover_post_id: null, item_count: 6 });
  });
});

describe('the focal point of the first cover', () => {
  let first: Post;
  let second: Post;
  let id: string;
  const focal = async () => {
    const { cover_focal_x, cover_focal_y } = await get(ann, id);
    return [cover_focal_x, cover_focal_y];
  };

  beforeAll(async () => {
    first = await publish(mara, [await another()]);
    second = await publish(mara, [await another()]);
    id = (await collect(mara, 'focal', [first, second])).id;
  });

  // COLLECTION-12
  test('is set as a pair or not at all, from 0 to 1', async () => {
    const refusal = { status: 400, error: 'cover_focal_x and cover_focal_y are set together or not at all' };
    const half = { cover_focal_x: 0.5 };
    for (const body of [half, { cover_focal_y: 0.5 }, { ...half, cover_focal_y: null }])
      expect(await mara.refused('updateCollection', { params: { id }, body })).toEqual(refusal);
    await edit(id, { cover_focal_x: 0, cover_focal_y: 1 });
    expect(await focal()).toEqual([0, 1]);
    await edit(id, { cover_focal_x: null, cover_focal_y: null });
    expect(await focal()).toEqual([0, 1]);
    await edit(id, { clear_cover_focal: true });
    expect(await focal()).toEqual([null, null]);
  });

  test('is removed when another cover is chosen without a new one, and kept with the same cover', async () => {
    await edit(id, { cover_post_id: second.id, cover_focal_x: 0.25, cover_focal_y: 0.75 });
    expect(await focal()).toEqual([0.25, 0.75]);
    await edit(id, { cover_post_id: second.id, name: 'focal still' });
    expect(await focal()).toEqual([0.25, 0.75]);
    await edit(id, { cover_post_id: first.id });
    expect(await focal()).toEqual([null, null]);
    await edit(id, { cover_focal_x: 0.5, cover_focal_y: 0.5 });
    await edit(id, { clear_cover: true });
    expect(await focal()).toEqual([null, null]);
  });

  // COLLECTION-12
  test('belongs to one picture, and does not apply to another that becomes the first', async () => {
    await edit(id, { cover_focal_x: 0.3, cover_focal_y: 0.4 });
    expect(await focal()).toEqual([0.3, 0.4]);
    await move(mara, id, second.id, first.id);
    expect(await focal()).toEqual([null, null]);
    await move(mara, id, first.id, second.id);
    expect(await focal()).toEqual([0.3, 0.4]);
  });

  // COLLECTION-12
  test('needs a cover', async () => {
    const empty = await collect(mara, 'empty');
    const body = { cover_focal_x: 0.5, cover_focal_y: 0.5, name: 'not renamed' };
    expect((await mara.refused('updateCollection', { params: { id: empty.id }, body })).status).toBe(400);
    expect((await get(mara, empty.id)).name).toBe('empty');
  });

  test('is 400 together with its clear flag, like every other value', async () => {
    const focal = { cover_focal_x: 0.5, cover_focal_y: 0.5 };
    const values = { cover_post_id: first.id, ...focal, expires_at: '2099-01-01T00:00:00Z' };
    for (const flag of ['clear_cover', 'clear_cover_focal', 'clear_expires_at']) {
      const body = { ...values, [flag]: true };
      const answer = await mara.send(`/collections/${id}`, { method: 'PATCH', body });
      expect([flag, answer.text]).toEqual([flag, expect.stringContaining('are mutually exclusive')]);
    }
  });
});
