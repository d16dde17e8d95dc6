import type { Shelf } from './queries.ts';

/** Returns the shelf in an address; visitors have none of their own. */
export function readShelf(search: Pick<URLSearchParams, 'get'>, signedIn: boolean): Shelf {
  return !signedIn || search.get('of') === 'all' ? 'all' : 'mine';
}

/** Returns the address of a shelf, searched by name. */
export function shelfAddress(shelf: Shelf, q: string): string {
  const search = new URLSearchParams();
  if (shelf === 'all') search.set('of', 'all');
  if (q !== '') search.set('q', q);
  const text = search.toString();
  return `/collections${text === '' ? '' : `?${text}`}`;
}
