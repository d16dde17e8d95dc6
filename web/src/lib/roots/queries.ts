import { infiniteQueryOptions } from '@tanstack/svelte-query';
import type { Root } from '@vitrine/contract/roots';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import { isScanning } from './words.ts';

/** How often the page looks at a scan that runs. */
const LOOKED_EVERY_MS = 2000;

/** Lists the folders left in place; again and again while one is scanned. */
export function rootsQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'roots'],
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listRoots', { query: pageParams(pageParam), signal }),
    refetchInterval: ({ state }) => {
      const pages: readonly { items: readonly Root[] }[] = state.data?.pages ?? [];
      return pages.some(({ items }) => items.some(isScanning)) ? LOOKED_EVERY_MS : false;
    },
  });
}
