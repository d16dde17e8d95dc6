import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../platform/http/refuse.ts';
import { annotatedMembers } from './annotations.ts';
import { shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';
import { type Guest, type LinkVisitor, linkedAssets, manageableLinks } from './links.ts';
import { live } from './live.ts';
import { editablePosts } from './posts.ts';

/**
 * What guests of a link may write (GUEST-1): visitors who have given a name, as far as the terms of the link allow,
 * and who reads it. Predicates refer to `guest_comments gc` and its link `share_links l`.
 */
type Predicate = RawBuilder<boolean>;

/** The terms of a link that are about guests. */
export type GuestTerms = Pick<LinkVisitor, 'allowFeedback' | 'allowPicks'>;

/** Whether guests may comment, annotate and decide. */
export function takesFeedback({ allowFeedback }: GuestTerms): boolean {
  return allowFeedback;
}

/** Whether guests may pick favourites. */
export function takesPicks({ allowPicks }: GuestTerms): boolean {
  return allowPicks;
}

/** Whether visitors may give a name. */
export function takesGuests(terms: GuestTerms): boolean {
  return takesFeedback(terms) || takesPicks(terms);
}

/** Whether a guest may write what the terms allow (GUEST-8). */
export function mayWrite({ muted }: Pick<Guest, 'muted'>): boolean {
  return !muted;
}

/** Throws 403 on a link that takes no feedback, whose visitors do not read what guests wrote. */
export function checkReadsFeedback(visitor: LinkVisitor): void {
  if (!takesFeedback(visitor)) throw refuse('link-feedback-not-allowed');
}

/** What a visitor of a link sees, and removed comments that they would see. */
export function guestCommentsInSightAt(visitor: LinkVisitor): Predicate {
  return sql`(gc.link_id = ${visitor.linkId} and (gc.asset_id is null or exists (
    select from assets a where a.id = gc.asset_id and ${linkedAssets(visitor)})))`;
}

/** What a visitor of a link sees: what all its guests wrote about what it shows now (GUEST-7). */
export function guestCommentsAt(visitor: LinkVisitor): Predicate {
  return sql`(${live('gc')} and ${guestCommentsInSightAt(visitor)})`;
}

/** What the editors of a post read in its thread (ANNOTATION-5). */
export function guestCommentsIn(caller: Caller, postId: string): Predicate {
  return sql`(${live('gc')} and ${guestCommentsInSightIn(caller, postId)})`;
}

/** The same, and removed comments that they would read: none about files that are withheld from them. */
export function guestCommentsInSightIn(caller: Caller, postId: string): Predicate {
  return sql`(gc.post_id = ${postId}
    and exists (select from posts p where p.id = ${postId} and ${editablePosts(caller)})
    and (gc.asset_id is null or exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = gc.post_id and m.asset_id = gc.asset_id and ${annotatedMembers(caller)})))`;
}

/** What the editors of the target of a link read of it: none about files that they are not shown. */
export function guestCommentsOf(caller: Caller, linkId: string): Predicate {
  return sql`(gc.link_id = ${linkId} and ${live('gc')} and (gc.asset_id is null or exists (
    select from assets a where a.id = gc.asset_id and ${shownAssets(caller)})))`;
}

/** What the editors of the target of its link `l` export with the annotations of assets `a` that they are shown. */
export function exportedGuestComments(caller: Caller): Predicate {
  return sql`(${live('gc')} and ${shownAssets(caller)} and ${manageableLinks(caller)})`;
}

/** What the editors of the target of its link `l` remove. */
export function removableGuestComments(caller: Caller): Predicate {
  return sql`(${live('gc')} and ${manageableLinks(caller)})`;
}
