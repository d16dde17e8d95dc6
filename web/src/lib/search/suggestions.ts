import type { Suggestion } from '@vitrine/contract/search';
import { collectionPage, userPage } from '#lib/page-addresses.ts';
import { noCriteria, searchAddress } from './criteria.ts';

/** Returns the address of a suggestion; undefined if it has no target. */
export function leadsTo({ kind, text, id, user }: Suggestion): string | undefined {
  if (kind === 'tag') return searchAddress({ ...noCriteria, tags: [text] });
  if (kind === 'user') return user === undefined ? undefined : userPage(user);
  if (id === undefined) return undefined;
  if (kind === 'post') return `/posts/${id}`;
  return kind === 'asset' ? `/assets/${id}` : collectionPage(id);
}
