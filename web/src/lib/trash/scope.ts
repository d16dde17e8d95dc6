/** Which deleted things: one's own, or those one deleted oneself. */
export type TrashScope = 'owned_by_me' | 'deleted_by_me';

/** The scope an address asks for. */
export function readScope(params: Pick<URLSearchParams, 'get'>): TrashScope {
  return params.get('of') === 'by-me' ? 'deleted_by_me' : 'owned_by_me';
}
