import {
  changing,
  changingPost,
  commenting,
  labelOfPost,
  type Probe,
  posting,
  publicRead,
  readDoor,
  reading,
  threadOf,
} from '../asking.ts';
import { duePost, type PostCell, readsPost, refusalAt, type Switches } from '../due.ts';
import { lookOfPost } from '../looks.ts';
import { commentAuthor } from '../matrix.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';

/** A single post with its thread, likes, whiteboards and shares. */

/** Every operation on a post that changes nothing if it is allowed. */
export function postProbes(matrix: Matrix): Probe<PostCell>[] {
  const sharee = matrix.world.refOf('sharee');
  const stranger = matrix.world.refOf('stranger');
  const probes: Probe<PostCell>[] = [
    { ...publicRead, path: ({ id }) => `/posts/${id}/comments`, due: reading },
    { ...publicRead, path: ({ id }) => `/posts/${id}/whiteboards`, due: reading },
    { ...publicRead, path: (post) => `/comments/${threadOf(post).byCommenter}/replies`, due: reading },
    {
      method: 'GET',
      door: 'signedIn',
      scope: 'read',
      path: ({ id }) => `/posts/${id}/shares`,
      due: (who, post) => changingPost(who, post, 200),
    },
    {
      method: 'GET',
      door: 'signedIn',
      scope: 'read',
      path: ({ id }) => `/posts/${id}/shares/${sharee}`,
      due: (who, post) => changingPost(who, post, 200),
    },
    {
      ...posting,
      method: 'PUT',
      path: ({ id }) => `/posts/${id}/shares/${sharee}`,
      due: (who, post) => changingPost(who, post, 200),
    },
    // The post is not shared with them.
    {
      ...posting,
      method: 'DELETE',
      path: ({ id }) => `/posts/${id}/shares/${stranger}`,
      due: (who, post) => changingPost(who, post, 404),
    },
    {
      ...posting,
      method: 'PATCH',
      path: ({ id }) => `/posts/${id}`,
      body: {},
      due: (who, post) => changingPost(who, post, 200),
    },
    // Moving a post from a state that it is not in returns 409 to callers who may move it.
    {
      ...posting,
      method: 'POST',
      path: ({ id, draft }) => `/posts/${id}/${draft ? 'unpublish' : 'publish'}`,
      due: (who, post) => changingPost(who, post, 409),
    },
    // Comments are off in every post of the sample (POST-31).
    {
      ...commenting,
      method: 'POST',
      path: ({ id }) => `/posts/${id}/comments`,
      body: { body: 'well' },
      due: (who, post) => (readsPost(who, post) ? 409 : 404),
    },
    {
      ...commenting,
      method: 'PATCH',
      path: (post) => `/comments/${threadOf(post).byCommenter}`,
      body: {},
      due: (who, post) => changing(readsPost(who, post), readsPost(who, post) && who === commentAuthor, 200),
    },
    {
      ...commenting,
      method: 'DELETE',
      path: (post) => `/comments/${threadOf(post).byCommenter}/like`,
      due: reading,
    },
    {
      ...posting,
      method: 'DELETE',
      path: ({ id }) => `/posts/${id}/like`,
      due: (who, post) => (who === commentAuthor ? null : reading(who, post)),
    },
    {
      ...posting,
      method: 'POST',
      path: ({ id }) => `/posts/${id}/like`,
      due: (who, post) => (who !== commentAuthor && readsPost(who, post) ? null : reading(who, post)),
    },
    { ...publicRead, path: ({ id }) => `/posts/${id}/like`, due: reading },
  ];
  return probes.map((probe) => ({ ...probe, hidesPost: true }));
}

/** Deleted comments do not exist for any caller. */
export function deletedCommentProbes(): Probe<PostCell>[] {
  return [
    { ...publicRead, path: (post) => `/comments/${threadOf(post).deletedRoot}/replies`, due: () => 404 },
    {
      ...commenting,
      method: 'PATCH',
      path: (post) => `/comments/${threadOf(post).deletedRoot}`,
      body: {},
      due: () => 404,
    },
    {
      ...commenting,
      method: 'DELETE',
      path: (post) => `/comments/${threadOf(post).deletedRoot}`,
      due: () => 404,
    },
    {
      ...commenting,
      method: 'POST',
      path: (post) => `/comments/${threadOf(post).deletedRoot}/like`,
      due: () => 404,
    },
  ];
}

export async function lookAtPost(matrix: Matrix, caller: Caller, cell: PostCell, switches: Switches) {
  const { status, text } = await caller.visitor.send(`/posts/${cell.id}`);
  const who = caller.kind;
  const got = status === 200 ? lookOfPost(JSON.parse(text)) : status;
  const refusal = refusalAt(who, caller.scopes, readDoor, switches);
  const due = refusal ?? (readsPost(who, cell) ? duePost(who, cell, switches, true) : 404);
  matrix.ledger.hold(`${caller.name}: GET /posts/{id}: ${labelOfPost(cell)}`, got, due);
}

export async function lookAtThread(matrix: Matrix, caller: Caller, cell: PostCell, switches: Switches) {
  const who = caller.kind;
  const thread = threadOf(cell);
  const isLetIn = refusalAt(who, caller.scopes, readDoor, switches) === null;
  if (!isLetIn || !readsPost(who, cell)) return;
  const comments = await caller.visitor.send(`/posts/${cell.id}/comments`);
  const page: { items: { id: string; replies: { id: string }[]; author?: unknown }[] } = JSON.parse(
    comments.text,
  );
  const got = page.items.map(({ id, replies }) => [id, ...replies.map((reply) => reply.id)].join('>'));
  const due = thread.roots.map((id) => (id === thread.byCommenter ? `${id}>${thread.reply}` : id));
  matrix.ledger.hold(`${caller.name}: thread: ${labelOfPost(cell)}`, got.join(), due.join());
  const isTold = page.items[0]?.author !== undefined;
  matrix.ledger.hold(`${caller.name}: a hidden commenter: ${labelOfPost(cell)}`, isTold, who !== 'anonymous');
  const like: { liked: boolean; like_count: number } = JSON.parse(
    (await caller.visitor.send(`/posts/${cell.id}/like`)).text,
  );
  const label = `${caller.name}: like: ${labelOfPost(cell)}`;
  matrix.ledger.hold(label, `${like.liked} ${like.like_count}`, `${who === commentAuthor} 1`);
}
