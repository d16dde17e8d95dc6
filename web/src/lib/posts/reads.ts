import type { QueryClient, QueryKey } from '@tanstack/svelte-query';

/** Resolves once every read below these keys that is under way now has come in or failed. */
export async function readsUnderWay(queries: QueryClient, keys: readonly QueryKey[]): Promise<void> {
  const cache = queries.getQueryCache();
  const reads = keys.flatMap((queryKey) => cache.findAll({ queryKey, fetchStatus: 'fetching' }));
  await Promise.allSettled(reads.map((query) => query.promise));
}
