import type { LinkVisitor } from './links.ts';

/** What guests of a link may write (GUEST-1): visitors who have given a name, as far as the terms of the link allow. */

/** A visitor's name at one link, kept by the cookie of their browser. */
export interface Guest {
  readonly id: string;
  readonly name: string;
  readonly muted: boolean;
}

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
