import type { TrashItem, TrashScope } from '@vitrine/contract/trash';
import { keyOf } from '#lib/batches/targets.ts';
import { phrase } from '#lib/languages/phrase.ts';

/** Describes who deleted an item: the reader, an unknown account, or a person whose name is not known. */
export function deletedBy(item: TrashItem, ownRef: number): string {
  if (item.deleted_by_user_ref === null) return phrase('by an unknown account');
  return item.deleted_by_user_ref === ownRef ? phrase('by you') : phrase('by someone');
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

/** Returns the key by which an item is chosen; undefined for collections, which are restored one at a time. */
export function selectionKey({ kind, id, restorable }: TrashItem): string | undefined {
  return restorable && kind !== 'collection' ? keyOf(kind, id) : undefined;
}

/** Returns the scope in an address. */
export function readScope(params: Pick<URLSearchParams, 'get'>): TrashScope {
  const scope = params.get('of');
  return scope === 'by-me' ? 'deleted_by_me' : scope === 'everyone' ? 'everyone' : 'owned_by_me';
}
