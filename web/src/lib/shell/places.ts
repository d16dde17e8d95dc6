import type { SessionUser } from '@vitrine/contract/identity';
import { holds } from '#lib/identity/allowance.ts';

/** A page in a list of pages. */
export interface Place {
  readonly href: string;
  readonly label: string;
}

/** A part of the library that the header links to. */
export interface MainPlace extends Place {
  readonly href: '/assets' | '/collections' | '/teams' | '/tags';
}

const assets: MainPlace = { href: '/assets', label: 'Assets' };
const collections: MainPlace = { href: '/collections', label: 'Collections' };
const teams: MainPlace = { href: '/teams', label: 'Teams' };
const tags: MainPlace = { href: '/tags', label: 'Tags' };

/** Returns the parts that a user may open; null is a visitor (`page-gate.ts` of the contract). */
export function mainPlaces(user: SessionUser | null): readonly MainPlace[] {
  if (user === null) return [collections, tags];
  return [assets, collections, ...(holds(user, 'teams.read') ? [teams] : []), tags];
}

/** The pages whose main action is a new post. Others have their own, or none. */
const postingPlaces = ['/', '/assets', '/drafts', '/timeline', '/map', '/people', '/tags'];

/** Returns whether the header's button for a new post is the main action of a page. */
export function isPostingPlace(pathname: string): boolean {
  return postingPlaces.includes(pathname);
}

/** The width from which the header has room for everything; `md` in the classes. */
export const roomForPlaces = 'min-width: 48rem';
