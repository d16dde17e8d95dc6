import type { SessionUser } from '@vitrine/contract/identity';
import { holds } from '#lib/identity/allowance.ts';

/** A page that a list of pages leads to. */
export interface Place {
  readonly href: string;
  readonly label: string;
}

/** A part of the library that the header leads to, or the account's menu where the header has no room for it. */
export interface MainPlace extends Place {
  readonly href: '/assets' | '/collections' | '/teams' | '/tags';
}

const assets: MainPlace = { href: '/assets', label: 'Assets' };
const collections: MainPlace = { href: '/collections', label: 'Collections' };
const teams: MainPlace = { href: '/teams', label: 'Teams' };
const tags: MainPlace = { href: '/tags', label: 'Tags' };

/** The parts somebody may open; null is a visitor (identity/gate.ts). */
export function mainPlaces(user: SessionUser | null): readonly MainPlace[] {
  if (user === null) return [collections, tags];
  return [assets, collections, ...(holds(user, 'teams.read') ? [teams] : []), tags];
}

/** From this width on the header has room for them; `md` in the classes. */
export const roomForPlaces = 'min-width: 48rem';
