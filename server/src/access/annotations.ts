import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../platform/database/pool.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';
import { liveAsset, shownAssets } from './assets.ts';
import { type Caller, holds, type SignedIn, teamsWith } from './caller.ts';
import { callersOf } from './caller-of.ts';
import { liveComment } from './comments.ts';
import { passedOn } from './links.ts';
import { callersFor, readablePosts } from './posts.ts';
import { postsUnderReview, shownInReviews } from './reviews.ts';

/**
 * Who reads which comments. Annotations, with their replies, are for readers of the file that they are about
 * (ANNOTATION-5); every reader of comments asks here. Predicates refer to `comments c` and its post `posts p`.
 */
type Predicate = RawBuilder<boolean>;

/** Posts `p` in which the caller reads and writes annotations: those that they read, and drafts that they review. */
export function annotatedPosts(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return readablePosts(caller);
  return sql`(${readablePosts(caller)} or ${postsUnderReview(caller)})`;
}

/** Members `a` of such a post `p` whose annotations the caller reads and writes: those that they are shown there. */
export function annotatedMembers(caller: Caller): Predicate {
  const shown = caller.kind === 'anonymous' ? shownAssets(caller) : shownInReviews(caller);
  return sql`(${liveAsset} and ${shown})`;
}

/** Comments that are neither annotations nor replies to one: every reader of the post reads them (POST-33). */
export const plainComment: Predicate = sql`(${liveComment} and c.annotated_asset_id is null)`;

/** Members `a` of a post `p` whose annotations go to peers, and come from them: those that they have unencrypted. */
export const annotatedMembersForPeers: Predicate = sql`(case when p.origin_peer_id is null then ${passedOn}
  else a.origin_peer_id = p.origin_peer_id and ${liveAsset} end)`;

/**
 * Comments that peers get of the posts `p` that they have, and take answers to: of annotations and replies to them, those
 * about such members (FED-100).
 */
export const commentsForPeers: Predicate = sql`(${liveComment} and (c.annotated_asset_id is null
  or exists (select from post_members m join assets a on a.id = m.asset_id
    where m.post_id = p.id and m.asset_id = c.annotated_asset_id and ${annotatedMembersForPeers})))`;

/** Comments that the caller reads, and deleted ones that they would read. */
export function commentsInSight(caller: Caller): Predicate {
  return sql`(case when c.annotated_asset_id is null then ${readablePosts(caller)}
    else ${annotatedPosts(caller)} and exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = c.post_id and m.asset_id = c.annotated_asset_id and ${annotatedMembers(caller)}) end)`;
}

/** Comments that the caller reads. */
export function readableComments(caller: Caller): Predicate {
  return sql`(${liveComment} and ${commentsInSight(caller)})`;
}

/** The members of a post whose annotations the caller reads. */
function annotatedIn(caller: Caller, postId: string): RawBuilder<unknown> {
  return sql`select m.asset_id from posts p join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
    where p.id = ${postId} and ${annotatedPosts(caller)} and ${annotatedMembers(caller)}`;
}

/**
 * Equals `readableComments` for comments `c` of this post, whose rules PostgreSQL evaluates once per statement. No index
 * serves the `case`, so that a page is read in its order.
 */
export function commentsReadIn(caller: Caller, postId: string): Predicate {
  return sql`(${liveComment} and case when c.annotated_asset_id is null
    then (select exists (select from posts p where p.id = ${postId} and ${readablePosts(caller)}))
    else c.annotated_asset_id = any(array(${annotatedIn(caller, postId)})) end)`;
}

/** Annotations `c` of this post that the caller reads, without their replies. */
export function annotationsReadIn(caller: Caller, postId: string): Predicate {
  return sql`(${liveComment} and c.post_id = ${postId} and c.parent_id is null
    and c.annotated_asset_id = any(array(${annotatedIn(caller, postId)})))`;
}

/** Returns those of the callers who may read this post or its annotations. */
export function discussersOf(db: Database, callers: readonly SignedIn[], postId: string): Promise<number[]> {
  return callersFor(db, callers, postId, annotatedPosts);
}

/** Returns whether the caller may read this post or its annotations. */
export async function mayDiscuss(db: Database, caller: Caller, postId: string): Promise<boolean> {
  const { rows } = await sql`select from posts p
    where p.id = ${postId} and ${annotatedPosts(caller)}`.execute(db);
  return rows.length > 0;
}

/** Words `g` of the annotations of a file, for callers who are given the post and shown the file (ANNOTATION-15). */
export function annotationWords(caller: Caller): Predicate {
  return sql`exists (select from post_members m join assets a on a.id = m.asset_id
    where m.post_id = g.post_id and m.asset_id = g.asset_id and ${shownAssets(caller)})`;
}

/** Throws 404 unless the caller may read this post or its annotations. */
export async function checkDiscussed(db: Database, caller: Caller, postId: string): Promise<void> {
  if (!(await mayDiscuss(db, caller, postId))) throw notFound();
}

/** Throws 401 for visitors who name no post, and 404 as `checkDiscussed` (ANNOTATION-22). They have no other events. */
export async function checkFollowed(db: Database, caller: Caller, postId: string | undefined): Promise<void> {
  if (postId !== undefined) await checkDiscussed(db, caller, postId);
  else if (caller.kind === 'anonymous') throw refuse('sign-in-required');
}

const eventsForVisitors: ReadonlySet<string> = new Set(['comment', 'resolved', 'whiteboard']);

/** Returns whether a caller gets this event of a post. Visitors neither review nor see who has it open (ANNOTATION-22). */
export function getsEvent(caller: Caller, event: string): boolean {
  return caller.kind === 'user' || eventsForVisitors.has(event);
}

/** Returns the account that others see; null for visitors and during an impersonation (ANNOTATION-11). */
export function shownViewer(caller: Caller): number | null {
  return caller.kind === 'anonymous' || caller.impersonator !== null ? null : caller.ref;
}

/** What decides whether a post takes comments. */
export interface DiscussedPost {
  draft: boolean;
  comments_enabled: boolean;
  /** Whether the caller reads more of the post than its annotations. */
  readable: boolean;
}

/**
 * Locks a post against other writers of its comments; throws 404 unless the caller may read the post or its annotations.
 * Every change of comments takes this lock first, which prevents deadlocks.
 */
export async function lockDiscussed(tx: Tx, caller: Caller, postId: string): Promise<DiscussedPost> {
  const { rows } = await sql<DiscussedPost>`
    select p.draft, p.comments_enabled, coalesce(${readablePosts(caller)}, false) as readable from posts p
    where p.id = ${postId} and ${annotatedPosts(caller)}
    for no key update of p`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}

/** Comments that the caller resolves and assigns: their author's, the post's author's, the assignee's (ANNOTATION-8). */
export function resolvableComments(caller: SignedIn): Predicate {
  if (holds(caller, 'posts.admin')) return sql`true`;
  const teams = teamsWith(caller, 'posts.admin');
  const inTeams = teams.length === 0 ? sql`` : sql` or p.team_id = any(${teams}::uuid[])`;
  return sql`((c.author_user_ref = ${caller.ref} or c.assignee_user_ref = ${caller.ref}
    or p.author_user_ref = ${caller.ref}${inTeams}) is true)`;
}

/** Most accounts that are shown as looking at a post. */
const MOST_VIEWERS = 100;

/** Returns those of these accounts that may read a post, or its annotations, now. */
export async function viewersOf(db: Database, refs: readonly number[], postId: string): Promise<number[]> {
  if (refs.length === 0) return [];
  const callers = await callersOf(db, sql`u.ref = any(${[...refs]}::bigint[])`, MOST_VIEWERS);
  return discussersOf(db, callers, postId);
}
