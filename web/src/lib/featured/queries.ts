import { infiniteQueryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/**
 * Reads all featured posts. Cached as a feed of one page, so that likes and processed pictures are updated there too.
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

/** Reloads the featured posts. */
export async function refreshFeatured(service: Service): Promise<void> {
  await service.queries.invalidateQueries({ queryKey: featuredQuery(service).queryKey });
}
