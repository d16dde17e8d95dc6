import type { TrashItem } from '@vitrine/contract/trash';

/** Who deleted a thing, in words; `name` is theirs as far as it is known, undefined while it is looked up. */
export function deletedBy(item: TrashItem, ownRef: number, name: string | null | undefined): string {
  if (item.deleted_by_user_ref === null) return 'by nobody who is still known';
  if (item.deleted_by_user_ref === ownRef) return 'by you';
  return name === null ? 'by somebody' : `by ${name ?? '…'}`;
}

/** What a kind is called. */
export const kindWords: Readonly<Record<TrashItem['kind'], string>> = {
  asset: 'Asset',
  post: 'Post',
  collection: 'Collection',
};

/** Where a thing is found once it is live. */
export function addressOf({ kind, id }: Pick<TrashItem, 'kind' | 'id'>): string {
  return `/${kind}s/${id}`;
}

/** Which deleted things: one's own, or those one deleted oneself. */
export type TrashScope = 'owned_by_me' | 'deleted_by_me';

/** The scope an address asks for. */
export function readScope(params: Pick<URLSearchParams, 'get'>): TrashScope {
  return params.get('of') === 'by-me' ? 'deleted_by_me' : 'owned_by_me';
}
