import { CallError } from '@vitrine/contract/client';
import { phrase } from '#lib/languages/phrase.ts';
import type { Service } from '#lib/service.ts';
import type { ItemRef } from './item.ts';
import { refreshCollection, savedInQuery } from './queries.ts';

/** Adds a post or file to a collection or removes it. Rejects with CallError. */
export async function saveInto(
  { client }: Service,
  collectionId: string,
  item: ItemRef,
  saved: boolean,
): Promise<void> {
  try {
    if (item.kind === 'post')
      await client.call(saved ? 'addToCollection' : 'removeFromCollection', {
        params: { id: collectionId, post_id: item.id },
      });
    else
      await client.call(saved ? 'addAssetToCollection' : 'removeAssetFromCollection', {
        params: { id: collectionId, asset_id: item.id },
      });
  } catch (error) {
    if (error instanceof CallError && error.status === 404) {
      const problem =
        item.kind === 'post'
          ? phrase('the collection or the post no longer exists')
          : phrase('the collection or the file no longer exists');
      throw new CallError(404, problem);
    }
    throw error;
  }
}

/** Updates whether a post or file is in a collection, and invalidates what shows the collection. */
export function putSaved(service: Service, item: ItemRef, collectionId: string, saved: boolean): void {
  service.queries.setQueryData<string[]>(savedInQuery(service, item).queryKey, (ids) => {
    const others = (ids ?? []).filter((id) => id !== collectionId);
    return saved ? [...others, collectionId] : others;
  });
  void refreshCollection(service, collectionId);
}
