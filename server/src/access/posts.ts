import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { type Caller, holds, type SignedIn, teamsWith } from './caller.ts';
import { checkHolds } from './door.ts';
import { lasting, live } from './live.ts';
import { type Opened, openFor } from './visibilities.ts';

/**
 * Who reads which post. Predicates refer to a row of `posts` with the alias `p`. Each kind of caller gets its own
 * predicate, and thus its own query plan.
 */
export type Predicate = RawBuilder<boolean>;

export const livePost: Predicate = live('p');

/** The row `p` as an object with a visibility. */
export const thePost: Opened = {
  visibility: sql`p.visibility`,
  owner: sql`p.author_user_ref`,
  shares: sql`select from post_shares s where s.post_id = p.id`,
};

/** POST-7: what any shared surface may show: neither deleted posts nor drafts, nor mirrored ones that have expired. */
export const publishedPost: Predicate = sql`(${livePost} and not p.draft and ${lasting('p')})`;

/** POST-3: the author and `posts.admin` read any post that is not deleted, including drafts. */
function readsEverything(caller: Caller): boolean {
  return holds(caller, 'posts.admin');
}

/**
 * Returns an ` or` condition for posts of teams in which the caller holds `posts.admin`. Empty for most callers, so that
 * it costs nothing.
 */
function orAdministeredTeams(caller: Caller): RawBuilder<unknown> {
  const teams = teamsWith(caller, 'posts.admin');
  return teams.length === 0 ? sql`` : sql` or p.team_id = any(${teams}::uuid[])`;
}

/** Published posts by visibility (POST-2). Visibility never admits anyone to a draft (POST-7, POST-8). */
function published(caller: Caller): Predicate {
  return sql`(not p.draft and ${openFor(caller, thePost)})`;
}

/** Posts that `GET /posts/{id}` returns to this caller. */
export function readablePosts(caller: Caller): Predicate {
  if (caller.kind === 'anonymous')
    return sql`(p.deleted_at is null and ${lasting('p')} and ${published(caller)})`;
  if (readsEverything(caller)) return sql`(p.deleted_at is null and ${lasting('p')})`;
  return sql`(p.deleted_at is null and ${lasting('p')}
    and (p.author_user_ref = ${caller.ref} or ${published(caller)}${orAdministeredTeams(caller)}))`;
}

/**
 * REVIEW-2: posts that the caller may read, drafts as if they were published. Only rules of reviews use it, because a
 * draft is not published.
 */
export function postsAsPublished(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (readsEverything(caller)) return sql`(p.deleted_at is null and ${lasting('p')})`;
  return sql`(p.deleted_at is null and ${lasting('p')}
    and (p.author_user_ref = ${caller.ref} or ${openFor(caller, thePost)}${orAdministeredTeams(caller)}))`;
}

/** Returns the callers for whom this post meets their own rule, in one statement. */
export async function callersFor(
  db: Database,
  callers: readonly SignedIn[],
  postId: string,
  rule: (caller: Caller) => Predicate,
): Promise<number[]> {
  if (callers.length === 0) return [];
  const reads = callers.map(
    (caller) =>
      sql`(select ${caller.ref}::bigint as ref from posts p where p.id = ${postId} and ${rule(caller)})`,
  );
  const { rows } = await sql<{ ref: number }>`${sql.join(reads, sql` union all `)}`.execute(db);
  return rows.map(({ ref }) => ref);
}

/** Returns the callers to whom `GET /posts/{id}` returns this post. */
export function readersOf(db: Database, callers: readonly SignedIn[], postId: string): Promise<number[]> {
  return callersFor(db, callers, postId, readablePosts);
}

/** Returns the callers who may review this post (REVIEW-2). */
export function possibleReviewers(
  db: Database,
  callers: readonly SignedIn[],
  postId: string,
): Promise<number[]> {
  return callersFor(db, callers, postId, postsAsPublished);
}

/** Live posts the caller may change or delete: the author's, and any for `posts.admin` (POST-5). */
export function editablePosts(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  // Mirrored content is changed only at its origin.
  if (readsEverything(caller)) return sql`(p.deleted_at is null and p.origin_peer_id is null)`;
  return sql`(p.deleted_at is null and (p.author_user_ref = ${caller.ref}${orAdministeredTeams(caller)}))`;
}

/** Posts on shared surfaces: readable and published, also for authors and administrators (POST-7). */
export function listedPosts(caller: Caller): Predicate {
  if (caller.kind === 'user' && readsEverything(caller)) return publishedPost;
  if (caller.kind === 'user') {
    return sql`(${publishedPost}
      and (p.author_user_ref = ${caller.ref} or ${published(caller)}${orAdministeredTeams(caller)}))`;
  }
  return sql`(p.deleted_at is null and ${lasting('p')} and ${published(caller)})`;
}

/** With `include_deleted`, for system.admin only: the listed posts and the trash (FEED-10). */
export function listedPostsAndTrash(caller: Caller): Predicate {
  return holds(caller, 'system.admin')
    ? sql`(p.deleted_at is not null or ${publishedPost})`
    : listedPosts(caller);
}

/**
 * Posts that some response shows this caller: readable ones and, for `system.admin`, the trash. Statements that read
 * posts by their ids repeat this rule, because it may have changed since the ids were selected (decision 371).
 */
export function showablePosts(caller: Caller): Predicate {
  return holds(caller, 'system.admin') ? sql`true` : readablePosts(caller);
}

/** `draft=true`: the caller's own drafts, and every draft for `posts.admin` (POST-9). */
export function listedDrafts(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (readsEverything(caller)) return sql`(p.deleted_at is null and p.draft)`;
  return sql`(p.deleted_at is null and p.draft
    and (p.author_user_ref = ${caller.ref}${orAdministeredTeams(caller)}))`;
}

/** Throws 403 unless the caller may publish; anyone who may write posts may keep drafts (POST-13). */
export function checkMayPublish(caller: SignedIn): void {
  checkHolds(caller, 'posts.publish');
}

/** Throws 403 unless the caller may create posts from assets, as the door of `POST /posts` does. */
export function checkMayCreatePosts(caller: SignedIn): void {
  checkHolds(caller, 'posts.create');
}

/** Posts that an account likes. Likes are private: for any other account the result is empty. */
export function postsLikedBy(caller: Caller, userRef: number): Predicate {
  if (caller.kind === 'anonymous' || caller.ref !== userRef) return sql`false`;
  return sql`p.id in (select post_id from post_likes where user_ref = ${caller.ref})`;
}

/** POST-50: posts that the caller wrote, without those that they may change for others. */
export function authoredPosts(caller: SignedIn): Predicate {
  return sql`(p.author_user_ref is not distinct from ${caller.ref}::bigint)`;
}

/** POST-51: posts that this account has pinned, for lists that apply their own rule. */
export function pinnedPosts(userRef: number): Predicate {
  return sql`p.id = any(array(select pp.post_id from post_pins pp where pp.user_ref = ${userRef}))`;
}

/** The pinned posts of `users u` that the caller may list, the latest pin first (POST-51). */
export function pinnedPostIds(caller: Caller): RawBuilder<string[]> {
  return sql`array(select p.id from post_pins pp join posts p on p.id = pp.post_id
    where pp.user_ref = u.ref and ${listedPosts(caller)} order by pp.pinned_at desc, p.id)`;
}
