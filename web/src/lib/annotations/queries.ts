import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import { readSprites, type Sprite } from '#lib/viewer/sprites.ts';

/** Lists the annotations of a file of a post, newest first, with their first replies. */
export function annotationsQuery(
  { client }: Service,
  file: { readonly postId: string; readonly assetId: string } | undefined,
) {
  return infiniteQueryOptions({
    // Below the key of the thread, so that changes of its comments reach it.
    queryKey: ['comments', file?.postId, { asset_id: file?.assetId, annotated: true }],
    enabled: file !== undefined,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => {
      if (file === undefined) throw new Error('there is no file to ask for');
      return client.call('listComments', {
        params: { id: file.postId },
        query: { ...pageParams(pageParam, 200), asset_id: file.assetId, annotated: true },
        signal,
      });
    },
  });
}

/** Reads the preview pictures of a film, which show where its annotations are. */
export function spritesQuery(address: string | undefined) {
  return queryOptions<readonly Sprite[]>({
    queryKey: ['sprites', address],
    enabled: address !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: async ({ signal }) => {
      const response = await fetch(address ?? '', { signal });
      return response.ok ? readSprites(await response.text()) : [];
    },
  });
}
