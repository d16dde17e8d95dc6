import { beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** The access matrix (server/test/access) tests who may do what below a post; these tests cover the messages. */

let library: Library;
let author: Account;
let stranger: Account;
let viewer: Account;
let asset: { id: string };

beforeAll(async () => {
  library = await openLibrary();
  author = await library.join('author');
  stranger = await library.join('stranger');
  viewer = await library.join('viewer', 'viewer');
  asset = await upload(author, plainFile());
});

interface Thread {
  post: string;
  comment: string;
}

async function addThread(visibility: 'public' | 'private'): Promise<Thread> {
  const { id } = await publish(author, [asset], { visibility });
  const comment = await author.ok('createComment', { params: { id }, body: { body: 'x' } });
  return { post: id, comment: comment.id };
}

const requests: [string, (thread: Thread) => string, unknown?][] = [
  ['GET', ({ post }) => `/posts/${post}/comments`],
  ['GET', ({ comment }) => `/comments/${comment}/replies`],
  ['GET', ({ post }) => `/posts/${post}/like`],
  ['GET', ({ post }) => `/posts/${post}/whiteboards`],
  ['POST', ({ post }) => `/posts/${post}/comments`, { body: 'x' }],
  ['PATCH', ({ comment }) => `/comments/${comment}`, { body: 'y' }],
  ['DELETE', ({ comment }) => `/comments/${comment}`],
  ['POST', ({ comment }) => `/comments/${comment}/like`],
  ['DELETE', ({ comment }) => `/comments/${comment}/like`],
  ['POST', ({ post }) => `/posts/${post}/like`],
  ['DELETE', ({ post }) => `/posts/${post}/like`],
  ['POST', ({ post }) => `/posts/${post}/whiteboards`, { strokes: [{ points: [[0, 0]] }] }],
];

async function answers(visitor: Visitor, thread: Thread): Promise<[number, string][]> {
  const all: [number, string][] = [];
  for (const [method, path, body] of requests) {
    const { status, text } = await visitor.send(path(thread), { method, body });
    all.push([status, text]);
  }
  return all;
}

// COMMENT-3, POST-4, TOKEN-5
test('returns the same response below an unreadable and a missing post', async () => {
  const missing = await answers(stranger, { post: nowhere, comment: nowhere });
  expect(missing.map(([status]) => status)).toEqual(requests.map(() => 404));
  const hidden = await addThread('private');
  const draft = await addThread('public');
  await author.ok('unpublishPost', { params: { id: draft.post } });
  const deleted = await addThread('public');
  await author.ok('deletePost', { params: { id: deleted.post }, body: undefined });
  for (const thread of [hidden, draft, deleted]) expect(await answers(stranger, thread)).toEqual(missing);
  const script = await bearer(library, stranger, ['read', 'comments.write', 'posts.write', 'admin']);
  expect(await answers(script, hidden)).toEqual(missing);
});

test('names the impersonated account as the author of a comment', async () => {
  const { post } = await addThread('public');
  const browser = await actAs(library, await library.join('root', 'admin'), stranger);
  const comment = await browser.ok('createComment', { params: { id: post }, body: { body: 'hello' } });
  expect(comment.author).toMatchObject({ ref: stranger.ref });
  await stranger.ok('updateComment', { params: { id: comment.id }, body: { body: 'hello again' } });
});

// TOKEN-5
test('requires posts.comment to comment, whatever scopes a token has', async () => {
  const { post } = await addThread('public');
  const scripts = [viewer, await bearer(library, viewer, ['read', 'comments.write', 'admin'])];
  for (const caller of scripts) {
    const body = { body: 'hello' };
    expect(await caller.refused('createComment', { params: { id: post }, body })).toEqual({
      status: 403,
      error: 'missing capability posts.comment',
    });
  }
});
