import { infiniteQueryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/**
 * The featured rail, whole. As a feed of one page, so that likes and pictures in the making get fresh there as they
 * do in every other.
 */
export function featuredQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['feed', { featured: true }],
    initialPageParam: '',
    getNextPageParam: () => undefined,
    queryFn: async ({ signal }) => ({
      items: await client.call('listFeatured', { signal }),
      next_cursor: null,
    }),
  });
}

/** Reads the rail anew. */
export async function refreshFeatured(service: Service): Promise<void> {
  await service.queries.invalidateQueries({ queryKey: featuredQuery(service).queryKey });
}
