import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let ines: Account;
let viewer: Account;
let picture: { id: string };
let post: string;
let comment: string;
let reply: string;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, viewer] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('viewer', 'viewer'),
  ]);
  picture = await upload(mara, plainFile());
  await library.setPublicMode(true);
});

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
  const say = (body: { body: string; parent_id?: string }) =>
    ines.ok('createComment', { params: { id: post }, body });
  comment = (await say({ body: 'x' })).id;
  reply = (await say({ body: 'y', parent_id: comment })).id;
});

const like = (caller: Visitor, id = comment) => caller.ok('likeComment', { params: { id } });
const unlike = (caller: Visitor, id = comment) => caller.ok('unlikeComment', { params: { id } });

/** Returns the likes of the root and its reply as this caller sees them. */
async function likeStates(caller: Visitor) {
  const { items } = await caller.ok('listComments', { params: { id: post } });
  return items.flatMap(({ liked, like_count, replies }) => [
    [liked, like_count],
    ...replies.map((one) => [one.liked, one.like_count]),
  ]);
}

// LIKE-4
test('liked is per account, like_count is the same for all', async () => {
  expect(await like(mara)).toEqual({ liked: true, like_count: 1 });
  expect(await like(viewer)).toEqual({ liked: true, like_count: 2 });
  expect(await likeStates(mara)).toEqual([
    [true, 2],
    [false, 0],
  ]);
  expect(await likeStates(ines)).toEqual([
    [false, 2],
    [false, 0],
  ]);
});

// LIKE-4
test('a like of a reply does not count for its root', async () => {
  expect(await like(ines, reply)).toEqual({ liked: true, like_count: 1 });
  expect(await likeStates(ines)).toEqual([
    [false, 0],
    [true, 1],
  ]);
  const { items } = await ines.ok('listReplies', { params: { id: comment } });
  expect(items).toMatchObject([{ liked: true, like_count: 1 }]);
});

test('liking and unliking are idempotent', async () => {
  expect(await unlike(mara)).toEqual({ liked: false, like_count: 0 });
  await like(mara);
  expect(await like(mara)).toEqual({ liked: true, like_count: 1 });
  await like(ines);
  expect(await unlike(mara)).toEqual({ liked: false, like_count: 1 });
  expect(await unlike(mara)).toEqual({ liked: false, like_count: 1 });
});

test('concurrent likes of one account count once', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => like(mara)));
  for (const answer of answers) expect(answer).toEqual({ liked: true, like_count: 1 });
  await Promise.all(Array.from({ length: 30 }, () => unlike(mara)));
  expect(await likeStates(mara)).toContainEqual([false, 0]);
});

// LIKE-2
test('anonymous callers see `liked` as false and cannot like', async () => {
  await like(mara);
  expect(await likeStates(library.anonymous())).toEqual([
    [false, 1],
    [false, 0],
  ]);
  for (const id of ['likeComment', 'unlikeComment'] as const)
    expect((await library.anonymous().refused(id, { params: { id: comment } })).status).toBe(401);
});

test('returns the same 404 for deleted, unknown and unreadable comments', async () => {
  await like(viewer);
  await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
  const texts = [await viewer.send(`/comments/${comment}/like`, { method: 'POST' })];
  await mara.ok('deleteComment', { params: { id: comment } });
  for (const id of [comment, reply, nowhere])
    for (const method of ['POST', 'DELETE']) texts.push(await mara.send(`/comments/${id}/like`, { method }));
  expect(texts.map(({ status, text }) => [status, text])).toEqual(
    texts.map(() => [404, texts[0]?.text ?? '']),
  );
  expect((await mara.send('/comments/7/like', { method: 'POST' })).status).toBe(400);
});

test('a like changes neither edited_at nor the order, and is not in the preview', async () => {
  const newer = await ines.ok('createComment', { params: { id: post }, body: { body: 'newer' } });
  await like(mara);
  const { items } = await mara.ok('listComments', { params: { id: post } });
  expect(items.map(({ id, edited_at }) => [id, edited_at])).toEqual([
    [newer.id, null],
    [comment, null],
  ]);
  const { comments_preview } = await mara.ok('getPost', { params: { id: post } });
  expect(comments_preview?.map((one) => Object.keys(one).sort())).toEqual(
    Array.from({ length: 2 }, () => ['author', 'body', 'created_at', 'id']),
  );
});

// LIKE-5
test('deleting an account deletes its likes', async () => {
  const fan = await library.join('fan');
  await like(fan);
  await like(fan, reply);
  await library.deps.db.deleteFrom('users').where('ref', '=', fan.ref).execute();
  expect(await likeStates(mara)).toEqual([
    [false, 0],
    [false, 0],
  ]);
});
