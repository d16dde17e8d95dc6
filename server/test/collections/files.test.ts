import type { AssetAction, AssetSelection } from '@vitrine/contract/batches';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeLink, open, shownIds } from '../links/visiting.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, everyCollection, move, put } from './shelves.ts';

const library = await openLibrary();
const [mara, ann] = await library.joinAll('mara', 'ann');
const root = await library.join('root', 'admin');

const fileOf = (who: typeof mara, title: string, fields: object = {}) =>
  upload(who, plainFile(), { title, ...fields }, `${title}.txt`);
const place = (id: string, asset_id: string, who: Visitor = mara) =>
  who.send(`/collections/${id}/assets/${asset_id}`, { method: 'PUT' });
const take = (id: string, asset_id: string, who: Visitor = mara) =>
  who.send(`/collections/${id}/assets/${asset_id}`, { method: 'DELETE' });
const orderAll = (id: string, items: readonly { kind: string; id: string }[], who: Visitor = mara) =>
  who.status('PATCH', `/collections/${id}/order`, { items });
const smart = (query: AssetSelection, body: object = {}) =>
  mara.ok('createCollection', { body: { name: 'smart', query, ...body } });

/** Returns the titles of a collection's items for a caller, read in pages. */
async function read(who: Visitor, id: string, limit = 2): Promise<string[]> {
  const page = (query: object) =>
    who.ok('listCollectionItems', { params: { id }, query: { limit, ...query } });
  return (await pagesOf(page)).flat().map(({ kind, post, asset }) => {
    expect([post === undefined, asset === undefined]).toEqual([kind !== 'post', kind !== 'asset']);
    return post?.title ?? (asset !== undefined && 'title' in asset ? (asset.title ?? '') : '');
  });
}

let id: string;
let a: { id: string };
let b: { id: string };
let post: { id: string };

beforeEach(async () => {
  a = await fileOf(mara, 'a');
  b = await fileOf(mara, 'b');
  post = await publish(mara, [a], { title: 'post' });
  id = (await collect(mara, 'files')).id;
});

describe('files in a collection', () => {
  // COLLECTION-20
  test('are appended among its posts, and removed, both idempotent', async () => {
    expect((await place(id, a.id)).status).toBe(204);
    await put(mara, id, post.id);
    expect((await place(id, b.id)).status).toBe(204);
    expect((await place(id, a.id.toUpperCase())).status).toBe(204);
    expect(await read(mara, id)).toEqual(['a', 'post', 'b']);
    const shown = await ann.ok('getCollection', { params: { id } });
    expect(shown).toMatchObject({
      item_count: 3,
      smart: false,
      has_files: true,
      covers: [{ asset_id: a.id }, {}, {}],
    });
    for (const asset of [a.id, a.id, nowhere]) expect((await take(id, asset)).status).toBe(204);
    expect(await read(ann, id)).toEqual(['post', 'b']);
    expect((await everyCollection(mara, { containing_asset: b.id })).map((one) => one.id)).toEqual([id]);
    expect(await everyCollection(mara, { containing_asset: a.id })).toEqual([]);
  });

  // COLLECTION-2
  test('are changed by the owner and administrators only', async () => {
    expect((await place(id, a.id, ann)).status).toBe(403);
    expect((await take(id, a.id, ann)).status).toBe(403);
    expect(await orderAll(id, [], ann)).toBe(403);
    expect((await place(id, a.id, root)).status).toBe(204);
    expect((await place(nowhere, a.id)).status).toBe(404);
    expect(await mara.status('PUT', `/collections/${id}/assets/x`)).toBe(400);
    expect(await library.anonymous().status('PUT', `/collections/${id}/assets/${a.id}`)).toBe(401);
  });

  // COLLECTION-21
  test('become visible to nobody by being in it', async () => {
    const hidden = await fileOf(mara, 'hidden', { sensitivity: 'restricted' });
    const unposted = await fileOf(mara, 'unposted', { sensitivity: 'posts' });
    await place(id, hidden.id);
    await place(id, unposted.id);
    await place(id, b.id);
    expect(await read(mara, id)).toEqual(['hidden', 'unposted', 'b']);
    expect(await read(ann, id)).toEqual(['b']);
    const shown = await ann.ok('getCollection', { params: { id } });
    expect(shown).toMatchObject({ item_count: 1, has_files: true, covers: [{ asset_id: b.id }] });
    expect(await ann.status('GET', `/assets/${unposted.id}`)).toBe(404);
    expect(await everyCollection(ann, { containing_asset: hidden.id })).toEqual([]);
    // A placeholder cannot be placed by others, either.
    const own = (await collect(ann, 'own')).id;
    for (const one of [hidden.id, unposted.id, nowhere])
      expect((await place(own, one, ann)).status).toBe(404);
  });

  test('leave with the trash and return to their places', async () => {
    await place(id, a.id);
    await place(id, b.id);
    await mara.ok('deleteAsset', { params: { id: a.id }, body: {} });
    expect(await read(mara, id)).toEqual(['b']);
    await root.ok('restoreAsset', { params: { id: a.id } });
    expect(await read(mara, id)).toEqual(['a', 'b']);
  });

  // COLLECTION-22
  test('are ordered with its posts by a complete list', async () => {
    const hers = await publish(ann, [a], { title: 'hers' });
    await place(id, a.id);
    for (const one of [post, hers]) await put(mara, id, one.id);
    await place(id, b.id);
    await ann.ok('updatePost', { params: { id: hers.id }, body: { visibility: 'private' } });
    const [itemA, itemB] = [a, b].map((one) => ({ kind: 'asset', id: one.id }));
    const itemPost = { kind: 'post', id: post.id };
    if (itemA === undefined || itemB === undefined) throw new Error('two files');
    const itemHers = { kind: 'post', id: hers.id };
    expect(await orderAll(id, [itemB, itemPost, { ...itemA, id: a.id.toUpperCase() }])).toBe(204);
    expect(await read(mara, id)).toEqual(['b', 'post', 'a']);
    for (const items of [
      [],
      [itemB, itemPost],
      [itemB, itemPost, itemA, itemA],
      [itemB, itemPost, itemA, itemHers],
      [itemB, itemPost, itemA, { kind: 'asset', id: nowhere }],
      [itemB, { ...itemPost, kind: 'asset' }, itemA],
    ])
      expect([items.length, await orderAll(id, items)]).toEqual([items.length, 400]);
    // What the editor is not shown keeps its place.
    await ann.ok('updatePost', { params: { id: hers.id }, body: { visibility: 'org-only' } });
    expect(await read(mara, id)).toEqual(['b', 'post', 'hers', 'a']);
  });

  // COLLECTION-9
  test('are moved one by one, before a post or a file', async () => {
    await put(mara, id, post.id);
    for (const one of [a, b]) await place(id, one.id);
    const send = (body: object) => mara.status('PUT', `/collections/${id}/order`, body);
    expect(await send({ asset_id: b.id, before: post.id })).toBe(204);
    expect(await read(mara, id)).toEqual(['b', 'post', 'a']);
    await move(mara, id, post.id, b.id);
    expect(await read(mara, id)).toEqual(['post', 'b', 'a']);
    for (let n = 0; n < 40; n += 1)
      expect(await send({ asset_id: n % 2 ? a.id : b.id, before: post.id })).toBe(204);
    expect(await read(mara, id)).toEqual(['b', 'a', 'post']);
    expect(await send({ asset_id: a.id, before: null })).toBe(204);
    expect(await read(mara, id)).toEqual(['b', 'post', 'a']);
    expect(await send({ asset_id: a.id, post_id: post.id, before: null })).toBe(400);
    expect(await send({ asset_id: a.id })).toBe(400);
    expect(await send({ asset_id: nowhere, before: null })).toBe(404);
    expect(await send({ post_ids: [a.id] })).toBe(404);
  });

  // BATCH-2, BATCH-9
  test('are added and removed by a batch in its order, which can be undone', async () => {
    const hidden = await fileOf(ann, 'hidden', { sensitivity: 'restricted' });
    const run = async (ids: string[], action: AssetAction, who: Visitor = mara) => {
      const answer = await who.ok('batchAssets', { body: { ids, action } });
      await library.runJobs();
      return who.ok('getBatch', { params: { id: 'job_id' in answer ? answer.job_id : '' } });
    };
    const undo = async (batch: string) => {
      await mara.ok('undoBatch', { params: { id: batch } });
      await library.runJobs();
    };
    await put(mara, id, post.id);
    const added = await run([b.id, a.id, hidden.id], { kind: 'add_to_collection', collection_id: id });
    expect(added).toMatchObject({ changed: 2, refused: [{ id: hidden.id, reason: 'not found' }] });
    expect(await read(mara, id)).toEqual(['post', 'b', 'a']);
    const removed = await run([b.id, post.id], { kind: 'remove_from_collection', collection_id: id });
    expect(removed).toMatchObject({ changed: 1, refused_count: 1 });
    await undo(removed.id);
    expect(await read(mara, id)).toEqual(['post', 'b', 'a']);
    await undo(added.id);
    expect(await read(mara, id)).toEqual(['post']);
    const action = { kind: 'add_to_collection', collection_id: id } as const;
    expect(await ann.status('POST', '/assets/batch', { ids: [a.id], action })).toBe(403);
  });
});

describe('a link to a collection', () => {
  // LINK-22
  test('shows and packs the files that everyone sees and those of its owner that posts may show', async () => {
    const owned = await fileOf(mara, 'owned', { sensitivity: 'posts' });
    const hers = await fileOf(ann, 'hers');
    const narrow = [
      await fileOf(ann, 'org', { sensitivity: 'org' }),
      await fileOf(mara, 'restricted', { sensitivity: 'restricted' }),
    ];
    await library.runJobs();
    for (const one of [a, owned, hers, ...narrow]) await place(id, one.id);
    await put(mara, id, post.id);
    const { token, omitted_count } = await makeLink(mara, 'collections', id, { allow_download: true });
    expect(omitted_count).toBe(2);
    expect(await shownIds(library, token)).toEqual([a.id, owned.id, hers.id, a.id]);
    const page = (query: object) =>
      library.anonymous().ok('openLink', { params: { link: token }, query: { limit: 1, ...query } });
    expect((await pagesOf(page)).flat().map((item) => [item.id, item.post_id])).toEqual([
      [a.id, null],
      [owned.id, null],
      [hers.id, null],
      [a.id, post.id],
    ]);
    const zip = await fetch(`${library.address}/api/v1/links/${token}/archive`);
    const text = Buffer.from(await zip.arrayBuffer()).toString('latin1');
    expect(text).toContain('0002 owned.txt');
    expect(text).toContain('0004 post/0001 a.txt');
    for (const one of narrow)
      expect((await open(library, `${token}/assets/${one.id}/file`)).status).toBe(404);
  });
});

describe('a smart collection', () => {
  // COLLECTION-23
  test('shows what its query matches for each caller, newest first, and the query to editors only', async () => {
    const tags = ['quay'];
    const older = await fileOf(mara, 'older', { tags: tags.join() });
    const newer = await fileOf(ann, 'newer', { tags: tags.join() });
    await fileOf(mara, 'restricted', { tags: tags.join(), sensitivity: 'restricted' });
    const made = await smart({ tag: tags });
    expect(made).toMatchObject({ smart: true, query: { tag: tags }, item_count: 3 });
    expect(await read(mara, made.id)).toEqual(['restricted', 'newer', 'older']);
    expect(await read(ann, made.id)).toEqual(['newer', 'older']);
    const hers = await ann.ok('getCollection', { params: { id: made.id } });
    expect(hers).toMatchObject({ smart: true, item_count: 2 });
    expect(hers.covers.map((cover) => cover.asset_id)).toEqual([newer.id, older.id]);
    expect(hers).not.toHaveProperty('query');
    const [listed] = await everyCollection(ann, { q: 'smart' });
    expect(listed).toMatchObject({ item_count: 2, smart: true });
    // Batches take the same files.
    const dry = {
      query: { collection: made.id },
      action: { kind: 'set_mature', mature: true },
      dry_run: true,
    };
    expect(JSON.parse((await ann.send('/assets/batch', { method: 'POST', body: dry })).text).matched).toBe(2);
  });

  // COLLECTION-23
  test('is filled by its query only: items and order cannot be changed', async () => {
    const made = await smart({ q: 'nothing at all' });
    await place(id, a.id);
    for (const status of [
      (await place(made.id, a.id)).status,
      (await take(made.id, a.id)).status,
      await mara.status('PUT', `/collections/${made.id}/posts/${post.id}`),
      await mara.status('DELETE', `/collections/${made.id}/posts/${post.id}`),
      await orderAll(made.id, []),
      await mara.status('PUT', `/collections/${made.id}/order`, { post_id: post.id, before: null }),
      await mara.status('POST', '/assets/batch', {
        ids: [a.id],
        action: { kind: 'add_to_collection', collection_id: made.id },
      }),
      await mara.status('POST', '/posts', { members: [{ asset_id: a.id }], collection_id: made.id }),
    ])
      expect(status).toBe(409);
    expect(await read(mara, made.id)).toEqual([]);
  });

  // COLLECTION-24
  test('hides what was placed in it before, until its query is removed', async () => {
    await put(mara, id, post.id);
    await place(id, a.id);
    const tagged = await fileOf(mara, 'tagged', { tags: 'pier' });
    const patch = (body: object) => mara.ok('updateCollection', { params: { id }, body });
    expect(await patch({ query: { tag: ['pier'] } })).toMatchObject({ smart: true, item_count: 1 });
    expect(await read(mara, id)).toEqual(['tagged']);
    expect((await mara.ok('listCollectionPosts', { params: { id }, query: {} })).items).toEqual([]);
    expect((await mara.ok('listPosts', { query: { collection: id } })).items).toEqual([]);
    expect(await everyCollection(mara, { containing: post.id })).toEqual([]);
    const { token } = await makeLink(mara, 'collections', id);
    await library.runJobs();
    expect(await shownIds(library, token)).toEqual([tagged.id]);
    expect(await mara.status('PATCH', `/collections/${id}`, { query: {}, clear_query: true })).toBe(400);
    expect(await patch({ clear_query: true })).toMatchObject({ smart: false, item_count: 2 });
    expect(await read(mara, id)).toEqual(['post', 'a']);
    expect(await shownIds(library, token)).toEqual([a.id, a.id]);
  });

  // COLLECTION-25
  test('matches nothing by a field that the caller may not read, and refuses one that its owner may not', async () => {
    const field = await root.ok('createField', {
      body: { code: 'secret', label: 'Secret', type: 'text', read_capability: 'system.admin' },
    });
    const filter = ['field:secret=x'];
    expect(await mara.status('POST', '/collections', { name: 'x', query: { filter } })).toBe(400);
    expect(await mara.status('PATCH', `/collections/${id}`, { query: { filter } })).toBe(400);
    const body = { name: 'by secret', query: { filter }, visibility: 'public' } as const;
    const made = await root.ok('createCollection', { body });
    await root.ok('setAssetFieldValue', {
      params: { id: a.id, field_id: field.id },
      body: { value_text: 'x' },
    });
    expect(await read(root, made.id)).toEqual(['a']);
    expect(await read(mara, made.id)).toEqual([]);
    expect(await mara.ok('getCollection', { params: { id: made.id } })).toMatchObject({
      item_count: 0,
      covers: [],
    });
    for (const query of [{ nonsense: 1 }, { tag: 'x' }, 'x'])
      expect(await mara.status('POST', '/collections', { name: 'x', query })).toBe(400);
  });

  // COLLECTION-23
  test('that names itself or another smart collection shows what was placed there', async () => {
    const made = await smart({ collection: id });
    await place(id, b.id);
    await put(mara, id, post.id);
    expect((await read(mara, made.id)).sort()).toEqual(['a', 'b']);
    await mara.ok('updateCollection', { params: { id }, body: { query: { collection: made.id } } });
    expect([await read(mara, made.id), await read(mara, id)]).toEqual([[], []]);
  });
});
