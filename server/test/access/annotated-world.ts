import { randomUUID } from 'node:crypto';
import type { Anchor } from '@vitrine/contract/annotations';
import { DELETED_AT, must } from './cells.ts';
import {
  type AssetCell,
  answerOf,
  isServed,
  type PostCell,
  passesOn,
  readsPost,
  type Switches,
  wrote,
} from './due.ts';
import { type CallerKind, commentAuthor, givenToSignedIn, optedIn, postAdministrators } from './matrix.ts';
import type { Matrix } from './setting.ts';
import { inChunks } from './world.ts';

/** Annotations of members of many posts, reviews of drafts, and what the rules say about them. */

const states = ['open', 'resolved', 'deleted'] as const;

/**
 * An annotation. Open ones are by `commenter`, assigned to `assignee`, and have a point, a drawing and a reply. Resolved
 * ones are by the account that hides from visitors, and have a time.
 */
export interface Note {
  id: string;
  /** Its only reply, if it is open. */
  reply: string;
  post: PostCell;
  asset: AssetCell;
  state: (typeof states)[number];
  /** False when the file has left the post. */
  isMember: boolean;
}

export interface Annotated {
  posts: readonly PostCell[];
  notes: readonly Note[];
  /** One open annotation, which is drawn, of each file of the posts of several members and the drafts under review. */
  drawings: readonly Note[];
  /** The ids of drafts with an open review, in which `reviewers` are asked. */
  underReview: ReadonlySet<string>;
}

/** Callers without disguise, because only these accounts are asked and assigned. */
const reviewers: readonly CallerKind[] = [
  'commenter',
  'follower',
  'sharee',
  'member of the team',
  'opted in to mature',
];
export const assignee: CallerKind = 'sharee';

// Rules ------------------------------------------------------------------------

/** REVIEW-3: the caller is asked about the draft, and could read it if it were published. */
const reviews = ({ underReview }: Annotated, who: CallerKind, post: PostCell) =>
  underReview.has(post.id) && reviewers.includes(who) && readsPost(who, { ...post, draft: false });

/** ANNOTATION-1, REVIEW-3: callers who read the annotations of a post, as far as they are shown their files. */
export const discusses = (annotated: Annotated, who: CallerKind, post: PostCell) =>
  readsPost(who, post) || reviews(annotated, who, post);

/** REVIEW-3: reviewers are shown the members that publishing the draft would show them. */
function isShownInReview(annotated: Annotated, who: CallerKind, asset: AssetCell): boolean {
  const { status, processing } = givenToSignedIn;
  const isGiven =
    status.some((one) => one === asset.status) && processing.some((one) => one === asset.processing);
  const follows = !asset.deleted && asset.sensitivity === 'posts' && isGiven;
  return follows && asset.usedBy.some((post) => passesOn(post, asset) && reviews(annotated, who, post));
}

/** ANNOTATION-5: callers who are shown the member. */
export const seesMember = (annotated: Annotated, who: CallerKind, asset: AssetCell) =>
  answerOf(who, asset) === 'shown' || isShownInReview(annotated, who, asset);

export const readsNote = (annotated: Annotated, who: CallerKind, { state, isMember, post, asset }: Note) =>
  state !== 'deleted' && isMember && discusses(annotated, who, post) && seesMember(annotated, who, asset);

/** ANNOTATION-8. */
export function resolvesNote(annotated: Annotated, who: CallerKind, note: Note): boolean {
  if (!readsNote(annotated, who, note)) return false;
  const isTheirs = note.state === 'open' && (who === commentAuthor || who === assignee);
  return isTheirs || wrote(who, note.post) || postAdministrators[note.post.team].includes(who);
}

/** ANNOTATION-20: readers of a drawing who get the bytes of its picture. */
export function seesDrawing(annotated: Annotated, who: CallerKind, note: Note, switches: Switches): boolean {
  const { asset } = note;
  const isRated = asset.mature && !(switches.matureAllowed && optedIn.includes(who));
  const inReview = isShownInReview(annotated, who, asset) && !isRated;
  const isDrawn = note.state === 'open' && asset.rendered === 'all';
  return isDrawn && readsNote(annotated, who, note) && (isServed(who, asset, switches) || inReview);
}

// Rows -------------------------------------------------------------------------

/** What an annotation or reply says, by which exports are read. */
export const wordsOf = (id: string) => `note ${id}`;

/** Opens a review of each draft, and closes every fourth. Returns the ids of the drafts whose review is open. */
async function addReviews({ world }: Matrix, posts: readonly PostCell[]): Promise<Set<string>> {
  const { db } = world.library.deps;
  const rows = posts
    .filter(({ draft, deleted }) => draft && !deleted)
    .map(({ id }, index) => ({
      id: randomUUID(),
      post_id: id,
      closed_at: index % 4 === 3 ? new Date().toISOString() : null,
    }));
  await db
    .insertInto('reviewed_posts')
    .values(rows.map(({ post_id }) => ({ post_id, content: '' })))
    .execute();
  await db.insertInto('reviews').values(rows).execute();
  const asked = rows.flatMap(({ id }) =>
    reviewers.map((who, position) => ({ review_id: id, user_ref: world.refOf(who), position })),
  );
  await db.insertInto('review_reviewers').values(asked).execute();
  return new Set(rows.filter(({ closed_at }) => closed_at === null).map(({ post_id }) => post_id));
}

async function insertNotes({ world }: Matrix, notes: readonly Note[]): Promise<void> {
  const { db } = world.library.deps;
  const [commenter, hidden] = [world.refOf(commentAuthor), world.refs.hidden];
  const point: Anchor = { kind: 'point', x: 0.5, y: 0.5 };
  const strokes = JSON.stringify([{ points: [[0.5, 0.5]] }]);
  const roots = notes.map(({ id, post, asset, state }) => ({
    id,
    post_id: post.id,
    annotated_asset_id: asset.id,
    body: wordsOf(id),
    author_user_ref: state === 'resolved' ? hidden : commenter,
    assignee_user_ref: state === 'open' ? world.refOf(assignee) : null,
    resolved_at: state === 'resolved' ? DELETED_AT : null,
    deleted_at: state === 'deleted' ? DELETED_AT : null,
  }));
  const places = notes.map(({ id, state }, index) => {
    const moment: Anchor = { kind: 'time', start: index % 100 };
    const anchor = JSON.stringify(state === 'resolved' ? moment : point);
    return { comment_id: id, version: 1, anchor, strokes: state === 'open' ? strokes : null };
  });
  const replies = notes
    .filter(({ state }) => state === 'open')
    .map(({ id, reply, post }) => ({
      id: reply,
      post_id: post.id,
      parent_id: id,
      body: wordsOf(reply),
      author_user_ref: commenter,
    }));
  await inChunks(roots, (chunk) => db.insertInto('comments').values(chunk).execute());
  await inChunks(places, (chunk) => db.insertInto('annotations').values(chunk).execute());
  await inChunks(replies, (chunk) => db.insertInto('comments').values(chunk).execute());
}

/** Annotates every member of many posts in each state, and a file that has left each post of several members. */
export async function addAnnotations(matrix: Matrix): Promise<Annotated> {
  const { posts, sample } = matrix.world;
  const gallery = posts.filter(({ tag }) => tag === 'gallery');
  const following = posts.filter(({ tag }) => tag === 'follows').filter((_, index) => index % 2 === 0);
  const annotated = [...gallery, ...following, ...sample];
  const noteOf = (post: PostCell, asset: AssetCell, state: Note['state'], isMember: boolean): Note => ({
    id: randomUUID(),
    reply: randomUUID(),
    post,
    asset,
    state,
    isMember,
  });
  const other = must(sample[0]?.members[0], 'file of another post');
  const notes = [
    ...annotated.flatMap((post) =>
      post.members.flatMap((asset) => states.map((state) => noteOf(post, asset, state, true))),
    ),
    ...gallery.map((post) => noteOf(post, other, 'open', false)),
  ];
  await insertNotes(matrix, notes);
  const underReview = await addReviews(matrix, annotated);
  const drawn = notes.filter(
    ({ post, state, isMember }) =>
      state === 'open' && isMember && (post.tag === 'gallery' || underReview.has(post.id)),
  );
  const drawings = [...new Map(drawn.map((note) => [note.asset, note])).values()];
  return { posts: annotated, notes, drawings, underReview };
}

export async function removeAnnotations({ world }: Matrix): Promise<void> {
  const { db } = world.library.deps;
  await db.deleteFrom('comments').where('annotated_asset_id', 'is not', null).execute();
  await db.deleteFrom('reviewed_posts').execute();
}
