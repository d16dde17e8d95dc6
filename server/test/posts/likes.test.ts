import { beforeEach, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let post: string;

const library = await openLibrary();
const [mara, ines] = await library.joinAll('mara', 'ines');
const viewer = await library.join('viewer', 'viewer');
const picture = await upload(mara, plainFile());
await library.setPublicMode(true);

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
  const ofAsset = await caller.ok('listPostsByAsset', { params: { id: picture.id } });
  const { liked, like_count } = single;
  for (const other of [listed, ofAsset.find(({ id }) => id === post)])
    expect(other).toMatchObject({ liked, like_count });
  expect(await state(caller)).toEqual({ liked, like_count });
  return { liked, like_count };
}

// LIKE-1
test('liking and unliking answer with the caller’s state and the total, and are idempotent', async () => {
  const none = { liked: false, like_count: 0 };
  const one = { liked: true, like_count: 1 };
  const steps = [
    [state, none],
    [unlike, none],
    [like, one],
    [like, one],
    [state, one],
    [unlike, none],
  ] as const;
  for (const [act, expected] of steps) expect(await act(ines)).toEqual(expected);
});

// LIKE-2, POST-30
test('liked is per account, false for visitors; like_count is the same for all, on every surface', async () => {
  await like(ines);
  await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
  // Requires neither open comments nor posts.comment.
  await like(viewer);
  // Authors may like their own posts.
  expect(await like(mara)).toEqual({ liked: true, like_count: 3 });
  await unlike(mara);
  for (const who of [ines, viewer]) expect(await shownTo(who)).toEqual({ liked: true, like_count: 2 });
  for (const who of [mara, library.anonymous()])
    expect(await shownTo(who)).toEqual({ liked: false, like_count: 2 });
  const other = await publish(mara, [picture], { visibility: 'public' });
  expect(await ines.ok('getLike', { params: { id: other.id } })).toEqual({ liked: false, like_count: 0 });
});

// LIKE-3
test('concurrent likes of one account count once, and unlikes remove it', async () => {
  const liked = await Promise.all(Array.from({ length: 20 }, () => like(ines)));
  for (const answer of liked) expect(answer).toEqual({ liked: true, like_count: 1 });
  const unliked = await Promise.all(Array.from({ length: 20 }, () => unlike(ines)));
  for (const answer of unliked) expect(answer).toEqual({ liked: false, like_count: 0 });
});

// POST-4
test('returns the same 404 for unreadable, draft, deleted and unknown posts, and keeps their likes', async () => {
  await like(ines);
  const answers: unknown[] = [];
  const ask = async (id = post) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, text } = await ines.send(`/posts/${id}/like`, { method });
      answers.push([status, text]);
    }
  };
  await ask(nowhere);
  await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
  await ask();
  await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'public' } });
  await mara.ok('unpublishPost', { params: { id: post } });
  await ask();
  await mara.ok('publishPost', { params: { id: post }, body: undefined });
  await mara.ok('deletePost', { params: { id: post }, body: undefined });
  await ask();
  expect(answers).toEqual(answers.map(() => [404, '{"error":"not found"}']));
  await mara.ok('restorePost', { params: { id: post } });
  expect(await state(ines)).toEqual({ liked: true, like_count: 1 });
});

test('changes neither updated_at nor the order of the feed', async () => {
  const before = await mara.ok('getPost', { params: { id: post } });
  const newer = await publish(mara, [picture], { visibility: 'public' });
  await like(ines);
  const after = await mara.ok('getPost', { params: { id: post } });
  expect(after).toEqual({ ...before, like_count: 1 });
  const body = { title: 'x', if_unchanged_since: before.updated_at };
  await mara.ok('updatePost', { params: { id: post }, body });
  const order = (await ines.ok('listPosts')).items.map(({ id }) => id);
  expect(order.indexOf(newer.id)).toBeLessThan(order.indexOf(post));
});

// LIKE-5
test('deleting an account or a post deletes its likes', async () => {
  const { db } = library.deps;
  const fan = await library.join('fan');
  await like(fan);
  await like(ines);
  await db.deleteFrom('users').where('ref', '=', fan.ref).execute();
  expect(await state(ines)).toEqual({ liked: true, like_count: 1 });
  await db.deleteFrom('posts').where('id', '=', post).execute();
  expect(await db.selectFrom('post_likes').selectAll().where('post_id', '=', post).execute()).toEqual([]);
});
