import { duePost, type PostCell, readsPost, type Switches } from '../due.ts';
import { type CallerKind, commentAuthor } from '../matrix.ts';
import { lookOfPost, type SeenPost } from '../responses.ts';
import {
  accountDoor,
  changing,
  changingPost,
  commentDoor,
  labelOfPost,
  type Probe,
  pathsOf,
  postDoor,
  probe,
  readDoor,
  reading,
  refusalOf,
  threadOf,
} from '../send-requests.ts';
import type { Matrix } from '../setting.ts';
import type { Caller } from '../world.ts';

/** A single post with its thread, likes, whiteboards and shares. */

const commentOf = (post: PostCell) => `/comments/${threadOf(post).byCommenter}`;
const boardOf = (post: PostCell) => `/whiteboards/${threadOf(post).board}`;
const deletedCommentOf = (post: PostCell) => `/comments/${threadOf(post).deletedRoot}`;
const editing = (done: number) => (who: CallerKind, post: PostCell) => changingPost(who, post, done);

/** Every operation on a post that changes nothing if it is allowed. */
export function postProbes(matrix: Matrix): Probe<PostCell>[] {
  const below = pathsOf('/posts');
  const shareWith = (name: CallerKind) => below(`/shares/${matrix.world.refOf(name)}`);
  const probes: Probe<PostCell>[] = [
    probe(readDoor, 'GET', below('/comments'), reading),
    probe(readDoor, 'GET', below('/whiteboards'), reading),
    probe(readDoor, 'GET', boardOf, reading),
    probe(readDoor, 'GET', (post) => `${boardOf(post)}/drawing.svg`, reading),
    probe(readDoor, 'GET', (post) => `${commentOf(post)}/replies`, reading),
    probe(accountDoor, 'GET', below('/shares'), editing(200)),
    probe(accountDoor, 'GET', shareWith('sharee'), editing(200)),
    probe(postDoor, 'PUT', shareWith('sharee'), editing(200)),
    // The post is not shared with them.
    probe(postDoor, 'DELETE', shareWith('stranger'), editing(404)),
    probe(postDoor, 'PATCH', below(''), editing(200), { body: {} }),
    // A time in the past is refused after the rules of access (POST-47).
    probe(postDoor, 'PATCH', below(''), (who, post) => changingPost(who, post, post.draft ? 400 : 409), {
      body: { publish_at: '2020-01-01T00:00:00Z' },
    }),
    // Moving a post from a state that it is not in returns 409 to callers who may move it.
    probe(
      postDoor,
      'POST',
      ({ id, draft }) => `/posts/${id}/${draft ? 'unpublish' : 'publish'}`,
      editing(409),
    ),
    // Comments are off in every post of the sample (POST-31).
    probe(commentDoor, 'POST', below('/comments'), (who, post) => (readsPost(who, post) ? 409 : 404), {
      body: { body: 'well' },
    }),
    probe(
      commentDoor,
      'PATCH',
      commentOf,
      (who, post) => changing(readsPost(who, post), readsPost(who, post) && who === commentAuthor, 200),
      { body: {} },
    ),
    probe(
      postDoor,
      'PATCH',
      boardOf,
      (who, post) => changing(readsPost(who, post), readsPost(who, post) && who === commentAuthor, 200),
      { body: {} },
    ),
    probe(commentDoor, 'DELETE', (post) => `${commentOf(post)}/like`, reading),
    probe(postDoor, 'DELETE', below('/like'), (who, post) =>
      who === commentAuthor ? null : reading(who, post),
    ),
    probe(postDoor, 'POST', below('/like'), (who, post) =>
      who !== commentAuthor && readsPost(who, post) ? null : reading(who, post),
    ),
    probe(readDoor, 'GET', below('/like'), reading),
  ];
  return probes.map((one) => ({ ...one, hidesPost: true }));
}

/** Deleted comments do not exist for any caller. */
export function deletedCommentProbes(): Probe<PostCell>[] {
  const missing = () => 404;
  return [
    probe(readDoor, 'GET', (post) => `${deletedCommentOf(post)}/replies`, missing),
    probe(commentDoor, 'PATCH', deletedCommentOf, missing, { body: {} }),
    probe(commentDoor, 'DELETE', deletedCommentOf, missing),
    probe(commentDoor, 'POST', (post) => `${deletedCommentOf(post)}/like`, missing),
  ];
}

export async function lookAtPost(matrix: Matrix, caller: Caller, cell: PostCell, switches: Switches) {
  const { status, text } = await caller.visitor.send(`/posts/${cell.id}`);
  const who = caller.kind;
  const label = `${caller.name}: GET /posts/{id}: ${labelOfPost(cell)}`;
  const look = () => {
    // Only this operation counts annotations.
    const { annotation_counts, ...post }: SeenPost & { annotation_counts?: unknown[] } = JSON.parse(text);
    matrix.ledger.hold(`${label}: annotations`, annotation_counts?.length, 0);
    return lookOfPost(post);
  };
  const got = status === 200 ? look() : status;
  const refusal = refusalOf(caller, readDoor, switches);
  const due = refusal ?? (readsPost(who, cell) ? duePost(who, cell, switches, true) : 404);
  matrix.ledger.hold(label, got, due);
}

export async function lookAtThread(matrix: Matrix, caller: Caller, cell: PostCell, switches: Switches) {
  const who = caller.kind;
  const thread = threadOf(cell);
  const isLetIn = refusalOf(caller, readDoor, switches) === null;
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
