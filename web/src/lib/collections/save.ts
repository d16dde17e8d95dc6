import { CallError } from '@vitrine/contract/client';
import type { Service } from '#lib/service.ts';
import { refreshCollection, savedInQuery } from './queries.ts';

/** Adds a post to a collection or removes it. Rejects with CallError. */
export async function saveInto(
  { client }: Service,
  collectionId: string,
  postId: string,
  saved: boolean,
): Promise<void> {
  try {
    await client.call(saved ? 'addToCollection' : 'removeFromCollection', {
      params: { id: collectionId, post_id: postId },
    });
  } catch (error) {
    if (error instanceof CallError && error.status === 404) {
      throw new CallError(404, 'the collection or the post no longer exists');
    }
    throw error;
  }
}

/** Updates whether a post is in a collection, and invalidates what shows the collection. */
export function putSaved(service: Service, postId: string, collectionId: string, saved: boolean): void {
  service.queries.setQueryData<string[]>(savedInQuery(service, postId).queryKey, (ids) => {
    const others = (ids ?? []).filter((id) => id !== collectionId);
    return saved ? [...others, collectionId] : others;
  });
  void refreshCollection(service, collectionId);
}
