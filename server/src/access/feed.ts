import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';

/** Which posts a caller's feed keeps, depending on their visible members. Predicates refer to `posts p`. */
type Predicate = RawBuilder<boolean>;

/** FEED-2: returns whether a caller's feed leaves out withheld members; placeholders are off by default. */
export function hidesRestricted(caller: Caller): boolean {
  return caller.kind === 'anonymous' || !caller.showRestricted;
}

/**
 * FEED-3: leaves out posts with members of which none is visible, except the caller's own; posts without members stay.
 * Part of the statement, so that pages are never short. Scalar subqueries, which end with the first visible member:
 * PostgreSQL plans an `exists` here as a hash over all members, for a page of 24 posts.
 */
export function feedKeeps(caller: Caller): Predicate {
  const members = sql`post_members m join assets a on a.id = m.asset_id where m.post_id = p.id`;
  const visibleMember = sql`coalesce((select true from ${members} and ${shownAssets(caller)} limit 1),
    (select false from ${members} limit 1), true)`;
  return caller.kind === 'anonymous'
    ? sql`${visibleMember}`
    : sql`(p.author_user_ref = ${caller.ref} or ${visibleMember})`;
}
