import type { ShownAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addPosts, arrive, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, idsIn, move, placeAll, put, takeOut } from './shelves.ts';

let library: Library;
let mara: Account;
let root: Account;
let ann: Account;
let asset: ShownAsset;
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

beforeAll(async () => {
  library = await openLibrary();
  [mara, ann] = await Promise.all([arrive(library, 'mara'), arrive(library, 'ann')]);
  root = await arrive(library, 'root', 'admin');
  asset = await upload(mara, plainFile());
});

beforeEach(async () => {
  posts = await addPosts(library, { author: mara, members: [asset.id], count: 6 });
  id = (await collect(mara, 'in order')).id;
  await placeAll(library, id, posts, mara.ref);
});

describe('PUT and DELETE /collections/{id}/posts/{post_id}', () => {
  // COLLECTION-8
  test('appends a post, and leaves a post of the collection in its place', async () => {
    expect(await read()).toBe('abcdef');
    await put(mara, id, at('b').toUpperCase());
    expect(await read()).toBe('abcdef');
    await takeOut(mara, id, at('b'));
    expect(await read()).toBe('acdef');
    await put(mara, id, at('b'));
    expect(await read()).toBe('acdefb');
  });

  // COLLECTION-8
  test('removing a post is idempotent', async () => {
    for (const post of [at('a'), at('a'), nowhere]) await takeOut(mara, id, post);
    expect(await read()).toBe('bcdef');
  });

  // COLLECTION-8
  test('returns the same 404 for deleted, missing and private posts', async () => {
    const hers = await publish(ann, [asset], { visibility: 'private' });
    const draft = await publish(ann, [asset], { draft: true });
    const gone = await publish(mara, [asset]);
    await mara.ok('deletePost', { params: { id: gone.id }, body: undefined });
    for (const post_id of [hers.id, draft.id, gone.id, nowhere]) {
      const refused = await mara.refused('addToCollection', { params: { id, post_id } });
      expect(refused).toEqual({ status: 404, error: 'not found' });
    }
    expect(await read()).toBe('abcdef');
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
      select count(distinct position) as places from collection_posts where collection_id = ${id}`.execute(
      library.deps.db,
    );
    expect(rows[0]?.places).toBe(26);
  });
});

// COLLECTION-9
describe('PUT /collections/{id}/order with post_id and before', () => {
  test.each([
    ['e', 'b', 'aebcdf'],
    ['a', 'd', 'bcadef'],
    ['f', 'a', 'fabcde'],
    ['b', 'c', 'abcdef'],
    ['c', null, 'abdefc'],
    ['f', null, 'abcdef'],
  ])('%s before %s', async (post, before, result) => {
    expect((await send({ post_id: at(post), before: before === null ? null : at(before) })).status).toBe(204);
    expect(await read()).toBe(result);
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
  test.each([
    ['nothing', {}],
    ['no before', { post_id: nowhere }],
    ['before alone', { before: nowhere }],
    ['both questions', { post_id: nowhere, before: null, post_ids: [nowhere] }],
    ['null', { post_id: null, before: null }],
  ])('%s is 400', async (_, body) => {
    expect((await send(body)).status).toBe(400);
    expect(await read()).toBe('abcdef');
  });

  // COLLECTION-19
  test('returns 400 for a post before itself and 404 for a post that is not in the collection', async () => {
    const outside = await publish(mara, [asset]);
    expect((await send({ post_id: at('a'), before: at('a').toUpperCase() })).status).toBe(400);
    for (const body of [
      { post_id: outside.id, before: at('a') },
      { post_id: at('a'), before: outside.id },
      { post_id: at('a'), before: nowhere },
    ]) {
      const answer = await send(body);
      expect([answer.status, answer.text]).toEqual([
        404,
        expect.stringContaining('is not in this collection'),
      ]);
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
  test.each([
    ['fedcba', 'fedcba'],
    ['fa', 'fbcdea'],
    ['dbc', 'adbcef'],
    ['c', 'abcdef'],
  ])('%s', async (letters, result) => {
    expect((await arrange(letters)).status).toBe(204);
    expect(await read()).toBe(result);
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
  test.each([1, 2, 3, 5, 6, 7, 200])('are in its order without duplicates, %d at a time', async (limit) => {
    await arrange('fdbeca');
    expect((await idsIn(ann, id, limit)).map((one) => 'abcdef'[posts.indexOf(one)]).join('')).toBe('fdbeca');
  });

  test('continue after other posts are moved and removed', async () => {
    const page = await mara.ok('listCollectionPosts', { params: { id }, query: { limit: 3 } });
    await move(mara, id, at('a'), null);
    await takeOut(mara, id, at('c'));
    const query = { limit: 3, cursor: page.next_cursor ?? '' };
    const next = await mara.ok('listCollectionPosts', { params: { id }, query });
    expect(next.items.map((post) => post.id)).toEqual([at('d'), at('e'), at('f')]);
  });

  test.each([
    'cursor=x',
    'cursor=',
    `cursor=${Buffer.from('place 9999999999999999999 x').toString('base64url')}`,
  ])('%s is 400', async (query) => {
    expect((await mara.send(`/collections/${id}/posts?${query}`)).status).toBe(400);
  });
});

// COLLECTION-14
describe('collection_id of POST /posts', () => {
  const members = () => [{ asset_id: asset.id }];

  test('appends the new post to a collection of the caller', async () => {
    const post = await mara.ok('createPost', { body: { members: members(), collection_id: id } });
    expect((await idsIn(ann, id)).at(-1)).toBe(post.id);
  });

  test('adds a draft, which is shown once it is published', async () => {
    const body = { members: members(), collection_id: id, draft: true };
    const post = await mara.ok('createPost', { body });
    expect(await idsIn(mara, id)).not.toContain(post.id);
    await mara.ok('publishPost', { params: { id: post.id } });
    expect((await idsIn(mara, id)).at(-1)).toBe(post.id);
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
      const body = { members: members(), collection_id };
      expect((await mara.refused('createPost', { body })).status).toBe(status);
    }
    const body = { members: members(), collection_id: 'x' };
    expect((await mara.send('/posts', { method: 'POST', body })).status).toBe(400);
    expect(await library.deps.db.selectFrom('posts').select('id').execute()).toHaveLength(before.length);
  });
});
