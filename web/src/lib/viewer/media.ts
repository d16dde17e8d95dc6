import { queryOptions } from '@tanstack/svelte-query';
import type { ViewerItem, ViewerMedia, ViewerSource } from './item.ts';

/** Reads the media facts of an item; polls while its renditions are being made. */
export function mediaQuery(source: ViewerSource, item: ViewerItem | undefined) {
  return queryOptions<ViewerMedia>({
    queryKey: ['media', item?.id, item?.pending, item?.asset?.file_hash],
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }) => {
      if (item === undefined) throw new Error('there is nothing to ask for');
      return source.media(item, signal);
    },
    refetchInterval: ({ state }) => {
      const work = state.data?.transcoding?.state;
      return item?.pending === true || work === 'waiting' || work === 'running' ? 2000 : false;
    },
  });
}
