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

/** The posts `abcdef` as the collection has them, for whom. */
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
  test('a post comes last, and one that is in it stays where it is', async () => {
    expect(await read()).toBe('abcdef');
    await put(mara, id, at('b').toUpperCase());
    expect(await read()).toBe('abcdef');
    await takeOut(mara, id, at('b'));
    expect(await read()).toBe('acdef');
    await put(mara, id, at('b'));
    expect(await read()).toBe('acdefb');
  });

  // COLLECTION-8
  test('taking out what is not in it, twice, or was never there is no fault', async () => {
    for (const post of [at('a'), at('a'), nowhere]) await takeOut(mara, id, post);
    expect(await read()).toBe('bcdef');
  });

  // COLLECTION-8
  test('a post the caller does not read is a 404, deleted, missing and private alike', async () => {
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

  test('somebody else’s post one reads goes into one’s own collection, and may leave one’s sight', async () => {
    const hers = await publish(ann, [asset]);
    await put(mara, id, hers.id);
    expect(await idsIn(mara, id)).toContain(hers.id);
    await ann.ok('updatePost', { params: { id: hers.id }, body: { visibility: 'private' } });
    expect(await idsIn(mara, id)).not.toContain(hers.id);
    await takeOut(mara, id, hers.id);
    await ann.ok('updatePost', { params: { id: hers.id }, body: { visibility: 'org-only' } });
    expect(await idsIn(mara, id)).not.toContain(hers.id);
  });

  test('twenty at once by two people are twenty, each once', async () => {
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

  test('ninety moves into the same places hold, though there is no room for them at first', async () => {
    for (let n = 0; n < 20; n += 1) {
      await move(mara, id, at('c'), at('b'));
      await move(mara, id, at('d'), at('b'));
    }
    expect(await read()).toBe('acdbef');
    for (let n = 0; n < 10; n += 1) for (const one of 'bcdef') await move(mara, id, at(one), at('a'));
    expect(await read()).toBe('bcdefa');
  });

  // COLLECTION-9
  test('two who move at once both have their way', async () => {
    await Promise.all([
      move(mara, id, at('f'), at('a')),
      move(root, id, at('b'), null),
      move(mara, id, at('e'), at('d')),
    ]);
    expect(await read()).toBe('facedb');
  });

  test('leaves a post one does not see beside its neighbour', async () => {
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
  test('a post before itself is 400, one that is not in it 404, on either side', async () => {
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

  test('a deleted post is not in it, until it is restored to where it was', async () => {
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
  test('a post twice is 400, one that is not in it 404, and nothing moves', async () => {
    expect((await arrange('faa')).status).toBe(400);
    expect((await send({ post_ids: [at('f'), at('a'), at('f').toUpperCase()] })).status).toBe(400);
    const answer = await send({ post_ids: [at('f'), nowhere, at('a')] });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(nowhere)]);
    expect(await read()).toBe('abcdef');
  });

  // COLLECTION-9
  test('a post added meanwhile keeps its place, and one taken out meanwhile is told', async () => {
    const letters = await read();
    const extra = await publish(root, [asset]);
    await put(root, id, extra.id);
    expect((await arrange([...letters].reverse().join(''))).status).toBe(204);
    expect(await idsIn(mara, id)).toEqual([...[...posts].reverse(), extra.id]);
    await takeOut(root, id, at('c'));
    expect((await arrange(letters)).status).toBe(404);
  });

  test('two lists at once end as one of them', async () => {
    await Promise.all([arrange('fedcba'), send({ post_ids: [...'badcfe'].map(at) }, root)]);
    expect(['fedcba', 'badcfe']).toContain(await read());
  });
});

describe('pages of a collection', () => {
  test.each([1, 2, 3, 5, 6, 7, 200])('are in its order without doubles, %d at a time', async (limit) => {
    await arrange('fdbeca');
    expect((await idsIn(ann, id, limit)).map((one) => 'abcdef'[posts.indexOf(one)]).join('')).toBe('fdbeca');
  });

  test('go on where they were while others move and leave', async () => {
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

  test('puts the new post into one’s own collection, last', async () => {
    const post = await mara.ok('createPost', { body: { members: members(), collection_id: id } });
    expect((await idsIn(ann, id)).at(-1)).toBe(post.id);
  });

  test('a draft goes in, and shows once it is published', async () => {
    const body = { members: members(), collection_id: id, draft: true };
    const post = await mara.ok('createPost', { body });
    expect(await idsIn(mara, id)).not.toContain(post.id);
    await mara.ok('publishPost', { params: { id: post.id } });
    expect((await idsIn(mara, id)).at(-1)).toBe(post.id);
  });

  // COLLECTION-14
  test('one that the author may not open is 404, one that is somebody else’s 403; no post is made', async () => {
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
