import type { TrashItem } from '@vitrine/contract/trash';

/** Describes who deleted an item. `name` is the person's name if known, undefined while it is loading. */
export function deletedBy(item: TrashItem, ownRef: number, name: string | null | undefined): string {
  if (item.deleted_by_user_ref === null) return 'by an unknown account';
  if (item.deleted_by_user_ref === ownRef) return 'by you';
  return name === null ? 'by someone' : `by ${name ?? '…'}`;
}

/** Labels of the kinds of content. */
export const kindWords: Readonly<Record<TrashItem['kind'], string>> = {
  asset: 'Asset',
  post: 'Post',
  collection: 'Collection',
};

/** Returns the address of an item once it is restored. */
export function addressOf({ kind, id }: Pick<TrashItem, 'kind' | 'id'>): string {
  return `/${kind}s/${id}`;
}

/** The scopes of the trash: items that the user owns, or deleted. */
export type TrashScope = 'owned_by_me' | 'deleted_by_me';

/** Returns the scope in an address. */
export function readScope(params: Pick<URLSearchParams, 'get'>): TrashScope {
  return params.get('of') === 'by-me' ? 'deleted_by_me' : 'owned_by_me';
}
