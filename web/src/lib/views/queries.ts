import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** Views of the feed the person keeps, in their order. */
export function viewsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'views'],
    queryFn: ({ signal }) => client.call('listFeedViews', { signal }),
  });
}

/** Reads them anew. */
export async function refreshViews(service: Service): Promise<void> {
  await service.queries.invalidateQueries({ queryKey: viewsQuery(service).queryKey });
}
