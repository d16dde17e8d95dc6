import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { addPosts } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, idsIn, move, placeAll, put, takeOut } from './shelves.ts';

let posts: string[];
let id: string;

/** Returns the order of the posts `abcdef` in the collection for a caller. */
async function read(who: Visitor = mara): Promise<string> {
  const ids = await idsIn(who, id, 3);
  return ids.map((one) => 'abcdef'[posts.indexOf(one)]).join('');
}

const at = (letter: string) => posts['abcdef'.indexOf(letter)] ?? '';
const send = (body: unknown, who: Visitor = mara) =>
  who.send(`/collections/${id}/order`, { method: 'PUT', body });
const arrange = (letters: string) => send({ post_ids: [...letters].map(at) });

const library = await openLibrary();
const [mara, ann] = await library.joinAll('mara', 'ann');
const root = await library.join('root', 'admin');
const asset = await upload(mara, plainFile());

beforeEach(async () => {
  posts = await addPosts(library, { author: mara, members: [asset.id], count: 6 });
  id = (await collect(mara, 'in order')).id;
  await placeAll(library, id, posts, mara.ref);
});

describe('PUT and DELETE /collections/{id}/posts/{post_id}', () => {
  // COLLECTION-8
  test('append a post, or leave it in its place; removing is idempotent', async () => {
    expect(await read()).toBe('abcdef');
    await put(mara, id, at('b').toUpperCase());
    expect(await read()).toBe('abcdef');
    for (const post of [at('b'), at('b'), nowhere]) await takeOut(mara, id, post);
    expect(await read()).toBe('acdef');
    await put(mara, id, at('b'));
    expect(await read()).toBe('acdefb');
  });

  test('accepts readable posts of other authors, which may become unreadable later', async () => {
    const hers = await publish(ann, [asset]);
    await put(mara, id, hers.id);
    expect(await idsIn(mara, id)).toContain(hers.id);
    await ann.ok('updatePost', { params: { id: hers.id }, body: { visibility: 'private' } });
    expect(await idsIn(mara, id)).not.toContain(hers.id);
    await takeOut(mara, id, hers.id);
    await ann.ok('updatePost', { params: { id: hers.id }, body: { visibility: 'org-only' } });
    expect(await idsIn(mara, id)).not.toContain(hers.id);
  });

  test('adds twenty posts of concurrent requests once each', async () => {
    const many = await addPosts(library, { author: mara, members: [asset.id], count: 20 });
    await Promise.all(many.flatMap((post) => [put(mara, id, post), put(root, id, post)]));
    const ids = await idsIn(mara, id);
    expect([ids.length, new Set(ids).size]).toEqual([26, 26]);
    const { rows } = await sql<{ places: number }>`
      select count(distinct position) as places
      from collection_posts where collection_id = ${id}`.execute(library.deps.db);
    expect(rows[0]?.places).toBe(26);
  });
});

// COLLECTION-9
describe('PUT /collections/{id}/order with post_id and before', () => {
  test('moves a post before another, or to the end', async () => {
    for (const [post, before, result] of [
      ['e', 'b', 'aebcdf'],
      ['a', 'd', 'bcadef'],
      ['f', 'a', 'fabcde'],
      ['b', 'c', 'abcdef'],
      ['c', null, 'abdefc'],
      ['f', null, 'abcdef'],
    ] as const) {
      await arrange('abcdef');
      await move(mara, id, at(post), before === null ? null : at(before));
      expect([post, before, await read()]).toEqual([post, before, result]);
    }
  });

  test('keeps the order after ninety moves to the same positions', async () => {
    for (let n = 0; n < 20; n += 1) {
      await move(mara, id, at('c'), at('b'));
      await move(mara, id, at('d'), at('b'));
    }
    expect(await read()).toBe('acdbef');
    for (let n = 0; n < 10; n += 1) for (const one of 'bcdef') await move(mara, id, at(one), at('a'));
    expect(await read()).toBe('bcdefa');
  });

  // COLLECTION-9
  test('applies two concurrent moves', async () => {
    await Promise.all([
      move(mara, id, at('f'), at('a')),
      move(root, id, at('b'), null),
      move(mara, id, at('e'), at('d')),
    ]);
    expect(await read()).toBe('facedb');
  });

  test('keeps a hidden post beside its neighbour', async () => {
    await mara.ok('updatePost', { params: { id: at('b') }, body: { visibility: 'private' } });
    await move(root, id, at('a'), at('d'));
    expect([await read(ann), await read(mara)]).toEqual(['cadef', 'bcadef']);
  });

  // COLLECTION-19
  test('returns 400 for an incomplete or contradictory move and 404 for a post that is not in the collection', async () => {
    const outside = await publish(mara, [asset]);
    for (const body of [
      {},
      { post_id: nowhere },
      { before: nowhere },
      { post_id: nowhere, before: null, post_ids: [nowhere] },
      { post_id: null, before: null },
      { post_id: at('a'), before: at('a').toUpperCase() },
    ])
      expect([body, (await send(body)).status]).toEqual([body, 400]);
    for (const body of [
      { post_id: outside.id, before: at('a') },
      { post_id: at('a'), before: outside.id },
      { post_id: at('a'), before: nowhere },
    ]) {
      const { status, text } = await send(body);
      expect([status, text]).toEqual([404, expect.stringContaining('is not in this collection')]);
    }
    expect(await read()).toBe('abcdef');
  });

  test('a deleted post is omitted until it is restored in its place', async () => {
    await mara.ok('deletePost', { params: { id: at('c') }, body: undefined });
    expect((await send({ post_id: at('c'), before: at('a') })).status).toBe(404);
    expect((await send({ post_id: at('a'), before: at('c') })).status).toBe(404);
    await move(mara, id, at('f'), at('d'));
    await mara.ok('restorePost', { params: { id: at('c') } });
    expect(await read()).toBe('abcfde');
  });
});

// COLLECTION-9
describe('PUT /collections/{id}/order with post_ids', () => {
  test('arranges these posts among the places that they have', async () => {
    for (const [letters, result] of [
      ['fedcba', 'fedcba'],
      ['fa', 'fbcdea'],
      ['dbc', 'adbcef'],
      ['c', 'abcdef'],
    ] as const) {
      await arrange('abcdef');
      expect((await arrange(letters)).status).toBe(204);
      expect([letters, await read()]).toEqual([letters, result]);
    }
  });

  // COLLECTION-19
  test('returns 400 for a duplicate and 404 for a post that is not in it, and moves nothing', async () => {
    expect((await arrange('faa')).status).toBe(400);
    expect((await send({ post_ids: [at('f'), at('a'), at('f').toUpperCase()] })).status).toBe(400);
    const answer = await send({ post_ids: [at('f'), nowhere, at('a')] });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(nowhere)]);
    expect(await read()).toBe('abcdef');
  });

  // COLLECTION-9
  test('keeps the place of a concurrently added post, and reports a removed one', async () => {
    const letters = await read();
    const extra = await publish(root, [asset]);
    await put(root, id, extra.id);
    expect((await arrange([...letters].reverse().join(''))).status).toBe(204);
    expect(await idsIn(mara, id)).toEqual([...[...posts].reverse(), extra.id]);
    await takeOut(root, id, at('c'));
    expect((await arrange(letters)).status).toBe(404);
  });

  test('two concurrent orders end as one of them', async () => {
    await Promise.all([arrange('fedcba'), send({ post_ids: [...'badcfe'].map(at) }, root)]);
    expect(['fedcba', 'badcfe']).toContain(await read());
  });
});

describe('pages of a collection', () => {
  test('are in its order without duplicates, and continue after other posts are moved and removed', async () => {
    for (const limit of [1, 3, 5, 6, 200])
      expect([limit, await idsIn(ann, id, limit)]).toEqual([limit, posts]);
    const page = await mara.ok('listCollectionPosts', { params: { id }, query: { limit: 3 } });
    await move(mara, id, at('a'), null);
    await takeOut(mara, id, at('c'));
    const query = { limit: 3, cursor: page.next_cursor ?? '' };
    const next = await mara.ok('listCollectionPosts', { params: { id }, query });
    expect(next.items.map((post) => post.id)).toEqual([at('d'), at('e'), at('f')]);
  });

  test('a cursor past every place is 400', async () => {
    const cursor = Buffer.from(
      'place {"place":"9999999999999999999","id":"00000000-0000-4000-8000-000000000000"}',
    ).toString('base64url');
    expect(await mara.status('GET', `/collections/${id}/posts?cursor=${cursor}`)).toBe(400);
  });
});

// COLLECTION-14
describe('collection_id of POST and PATCH /posts', () => {
  test('appends the new post to a collection of the caller; a draft is shown once it is published', async () => {
    const draft = await publish(mara, [asset], { collection_id: id, draft: true });
    const post = await publish(mara, [asset], { collection_id: id });
    expect(await idsIn(ann, id)).toEqual([...posts, post.id]);
    await mara.ok('publishPost', { params: { id: draft.id }, body: undefined });
    expect(await idsIn(ann, id)).toEqual([...posts, draft.id, post.id]);
  });

  test('appends an existing post once, which is not a change of the post', async () => {
    const post = await publish(mara, [asset]);
    const params = { id: post.id };
    for (const collection_id of [id, id, null])
      expect(await mara.ok('updatePost', { params, body: { collection_id } })).toEqual(post);
    expect((await idsIn(ann, id)).filter((one) => one === post.id)).toHaveLength(1);
    const foreign = await collect(ann, 'of ann');
    const body = { collection_id: foreign.id, title: 'Not written' };
    expect((await mara.refused('updatePost', { params, body })).status).toBe(403);
    expect(await mara.ok('getPost', { params })).toEqual(post);
  });

  // COLLECTION-14
  test('returns 404 if the caller may not open it, 403 if it belongs to another account, and creates no post', async () => {
    const closed = await collect(ann, 'closed', [], { visibility: 'private' });
    const open = await collect(ann, 'open');
    const gone = await collect(mara, 'gone');
    await mara.ok('deleteCollection', { params: { id: gone.id }, body: undefined });
    const before = await library.deps.db.selectFrom('posts').select('id').execute();
    for (const [collection_id, status] of [
      [closed.id, 404],
      [open.id, 403],
      [gone.id, 404],
      [nowhere, 404],
    ] as const) {
      const body = { members: [{ asset_id: asset.id }], collection_id };
      expect((await mara.refused('createPost', { body })).status).toBe(status);
    }
    expect(await library.deps.db.selectFrom('posts').select('id').execute()).toHaveLength(before.length);
  });
});
