import { CallError } from '@vitrine/contract/client';
import type { Service } from '#lib/service.ts';
import { refreshCollection, savedInQuery } from './queries.ts';

/** Puts a post into a collection, or takes it out. Rejects with CallError. */
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
      throw new CallError(404, 'the collection or the post is not here any more');
    }
    throw error;
  }
}

/** Shows whether a post is in a collection, and lets what shows the collection be read anew. */
export function putSaved(service: Service, postId: string, collectionId: string, saved: boolean): void {
  service.queries.setQueryData<string[]>(savedInQuery(service, postId).queryKey, (ids) => {
    const others = (ids ?? []).filter((id) => id !== collectionId);
    return saved ? [...others, collectionId] : others;
  });
  void refreshCollection(service, collectionId);
}
