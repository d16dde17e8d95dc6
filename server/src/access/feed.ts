import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';

/** Which posts a caller's feed keeps, by what is visible of their members. Predicates speak of `posts p`. */
type Predicate = RawBuilder<boolean>;

/** Whether a caller's feed leaves withheld members out (FEED-2; off for who never chose). */
export function hidesRestricted(caller: Caller): boolean {
  return caller.kind === 'anonymous' || !caller.showRestricted;
}

/**
 * FEED-3: a post that had members and has none visible is left out; a post without members
 * and the caller's own are not. Part of the statement, so that a page is never short (and never filtered after).
 * One scalar subquery: an `exists` here is planned as a hash over every member there is, for a page of 24 posts.
 */
export function feedKeeps(caller: Caller): Predicate {
  const visibleMember = sql`coalesce((select bool_or(${shownAssets(caller)})
    from post_members m join assets a on a.id = m.asset_id where m.post_id = p.id), true)`;
  return caller.kind === 'anonymous'
    ? sql`${visibleMember}`
    : sql`(p.author_user_ref = ${caller.ref} or ${visibleMember})`;
}
