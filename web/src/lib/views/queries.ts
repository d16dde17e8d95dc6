import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** Lists the saved views of the user in their order. */
export function viewsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'views'],
    queryFn: ({ signal }) => client.call('listFeedViews', { signal }),
  });
}

/** Reloads the saved views. */
export async function refreshViews(service: Service): Promise<void> {
  await service.queries.invalidateQueries({ queryKey: viewsQuery(service).queryKey });
}
