import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let ines: Account;
let viewer: Account;
let root: Account;
let picture: { id: string };
let post: string;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, viewer, root] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('viewer', 'viewer'),
    library.join('root', 'admin'),
  ]);
  picture = await upload(mara, plainFile());
  await library.setPublicMode(true);
});

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const like = (caller: Visitor) => caller.ok('likePost', { params: { id: post } });
const unlike = (caller: Visitor) => caller.ok('unlikePost', { params: { id: post } });
const state = (caller: Visitor) => caller.ok('getLike', { params: { id: post } });

/** Returns `liked` and `like_count` for this caller, and checks that they are the same wherever the post is shown. */
async function shownTo(caller: Visitor) {
  const single = await caller.ok('getPost', { params: { id: post } });
  const listed = (await caller.ok('listPosts')).items.find(({ id }) => id === post);
  const byAsset = (await caller.ok('listPostsByAsset', { params: { id: picture.id } })).find(
    ({ id }) => id === post,
  );
  const { liked, like_count } = single;
  for (const other of [listed, byAsset]) expect(other).toMatchObject({ liked, like_count });
  expect(await state(caller)).toEqual({ liked, like_count });
  return { liked, like_count };
}

// LIKE-1
test('GET, POST and DELETE answer 200 with the caller’s state and the total', async () => {
  const path = `/posts/${post}/like`;
  const answers = [];
  for (const method of ['GET', 'POST', 'GET', 'DELETE', 'GET'])
    answers.push(await ines.send(path, { method }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(answers.map(({ text }) => JSON.parse(text))).toEqual([
    { liked: false, like_count: 0 },
    { liked: true, like_count: 1 },
    { liked: true, like_count: 1 },
    { liked: false, like_count: 0 },
    { liked: false, like_count: 0 },
  ]);
});

// POST-30
test('liked is per account, like_count the same for all, on every surface', async () => {
  await like(ines);
  await like(viewer);
  // Authors may like their own posts.
  expect(await like(mara)).toEqual({ liked: true, like_count: 3 });
  await unlike(mara);
  expect(await shownTo(ines)).toEqual({ liked: true, like_count: 2 });
  expect(await shownTo(viewer)).toEqual({ liked: true, like_count: 2 });
  expect(await shownTo(mara)).toEqual({ liked: false, like_count: 2 });
  expect(await shownTo(root)).toEqual({ liked: false, like_count: 2 });
});

// LIKE-2
test('anonymous callers see `liked` as false and cannot like', async () => {
  await like(ines);
  expect(await shownTo(library.anonymous())).toEqual({ liked: false, like_count: 1 });
  for (const id of ['likePost', 'unlikePost'] as const)
    expect((await library.anonymous().refused(id, { params: { id: post } })).status).toBe(401);
  expect(await state(ines)).toEqual({ liked: true, like_count: 1 });
});

// LIKE-1
test('liking and unliking are idempotent', async () => {
  expect(await unlike(ines)).toEqual({ liked: false, like_count: 0 });
  await like(ines);
  expect(await like(ines)).toEqual({ liked: true, like_count: 1 });
  await like(viewer);
  expect(await unlike(ines)).toEqual({ liked: false, like_count: 1 });
  expect(await unlike(ines)).toEqual({ liked: false, like_count: 1 });
});

// LIKE-3
test('concurrent likes of one account count once, and unlikes remove it', async () => {
  const liked = await Promise.all(Array.from({ length: 50 }, () => like(ines)));
  for (const answer of liked) expect(answer).toEqual({ liked: true, like_count: 1 });
  const unliked = await Promise.all(Array.from({ length: 50 }, () => unlike(ines)));
  for (const answer of unliked) expect(answer).toEqual({ liked: false, like_count: 0 });
});

test('likes count for their post only', async () => {
  const other = await publish(mara, [picture], { visibility: 'public' });
  await like(ines);
  expect(await ines.ok('getLike', { params: { id: other.id } })).toEqual({ liked: false, like_count: 0 });
});

// POST-4
test('returns the same 404 for unreadable, draft, deleted and unknown posts', async () => {
  await like(ines);
  const answers: unknown[] = [];
  const ask = async (caller: Visitor, id = post) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, text } = await caller.send(`/posts/${id}/like`, { method });
      answers.push([status, text]);
    }
  };
  await ask(ines, nowhere);
  await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
  await ask(ines);
  await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'public' } });
  await mara.ok('unpublishPost', { params: { id: post } });
  await ask(ines);
  await mara.ok('publishPost', { params: { id: post } });
  await mara.ok('deletePost', { params: { id: post }, body: undefined });
  for (const caller of [ines, mara, root]) await ask(caller);
  expect(answers).toEqual(answers.map(() => [404, '{"error":"not found"}']));
  // The changes in between removed no like.
  await mara.ok('restorePost', { params: { id: post } });
  expect(await state(ines)).toEqual({ liked: true, like_count: 1 });
  expect((await ines.send('/posts/7/like', { method: 'POST' })).status).toBe(400);
});

// LIKE-2
test('requires neither comments_enabled nor posts.comment', async () => {
  await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
  expect(await like(viewer)).toEqual({ liked: true, like_count: 1 });
});

test('changes neither updated_at nor the order of the feed', async () => {
  const before = await mara.ok('getPost', { params: { id: post } });
  const newer = await publish(mara, [picture], { visibility: 'public' });
  await like(ines);
  const after = await mara.ok('getPost', { params: { id: post } });
  expect(after).toEqual({ ...before, like_count: 1 });
  await mara.ok('updatePost', {
    params: { id: post },
    body: { title: 'x', if_unchanged_since: before.updated_at },
  });
  const order = (await ines.ok('listPosts')).items.map(({ id }) => id);
  expect(order.indexOf(newer.id)).toBeLessThan(order.indexOf(post));
});

test('refuses like_count and liked in bodies of posts', async () => {
  for (const body of [{ like_count: 99 }, { liked: true }, { comment_count: 99 }, { comments_preview: [] }]) {
    expect((await mara.send(`/posts/${post}`, { method: 'PATCH', body })).status).toBe(400);
    const members = [{ asset_id: picture.id }];
    expect((await mara.send('/posts', { method: 'POST', body: { members, ...body } })).status).toBe(400);
  }
  expect(await shownTo(mara)).toEqual({ liked: false, like_count: 0 });
});

// LIKE-5
test('deleting an account deletes its likes', async () => {
  const fan = await library.join('fan');
  const first = post;
  await like(fan);
  await like(ines);
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
  await like(fan);
  await library.deps.db.deleteFrom('users').where('ref', '=', fan.ref).execute();
  expect(await state(ines)).toEqual({ liked: false, like_count: 0 });
  post = first;
  expect(await state(ines)).toEqual({ liked: true, like_count: 1 });
});

// LIKE-5
test('purging a post deletes its likes', async () => {
  await like(ines);
  await library.deps.db.deleteFrom('posts').where('id', '=', post).execute();
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from post_likes where post_id = ${post}`.execute(library.deps.db);
  expect(rows[0]?.count).toBe(0);
});
