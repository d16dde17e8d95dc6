import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Counts files by month, of one account or of all. */
export function timelineQuery({ client }: Service, owner: number | undefined) {
  return queryOptions({
    queryKey: ['timeline', owner],
    staleTime: readAtEveryVisit,
    queryFn: async ({ signal }) =>
      (
        await client.call('getTimeline', {
          query: owner === undefined ? {} : { of: String(owner) },
          signal,
        })
      ).months,
  });
}

/** Lists the files of a month, the newest first; null for those of unknown time. The key is under `assets`. */
export function monthQuery({ client }: Service, month: string | null, owner: number | undefined) {
  return infiniteQueryOptions({
    queryKey: ['assets', 'month', month, owner],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAssets', {
        query: {
          ...pageParams(pageParam, 200),
          sort: 'taken',
          taken_month: month ?? 'unknown',
          ...(owner === undefined ? {} : { owner_ref: owner }),
        },
        signal,
      }),
  });
}

/** Lists files that were taken on this day of any year. */
export function dayQuery({ client }: Service, day: string, owner: number | undefined) {
  return queryOptions({
    queryKey: ['assets', 'day', day, owner],
    queryFn: async ({ signal }) => {
      const query = { sort: 'taken', taken_day: day, limit: 12 } as const;
      const { items } = await client.call('listAssets', {
        query: owner === undefined ? query : { ...query, owner_ref: owner },
        signal,
      });
      return items.filter((asset) => !asset.restricted);
    },
  });
}

/** Lists pictures that look like this one. */
export function similarQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: ['similar', id],
    queryFn: async ({ signal }) => {
      const { items } = await client.call('listSimilarAssets', { params: { id }, signal });
      return items.flatMap(({ asset }) => (asset.restricted ? [] : [asset]));
    },
  });
}

/** Lists people by name. */
export function directoryQuery({ client }: Service, q: string) {
  return infiniteQueryOptions({
    queryKey: ['directory', q],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPeople', { query: { ...pageParams(pageParam), ...(q === '' ? {} : { q }) }, signal }),
  });
}

/** Lists clusters of files inside a box; those of the previous box until they arrive. */
export function placesQuery({ client }: Service, bbox: string, zoom: number) {
  return queryOptions({
    queryKey: ['places', bbox, zoom],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await client.call('listPlaces', { query: { bbox, zoom }, signal })).clusters,
  });
}

/** Lists the newest files inside a box. The key is under `assets`. */
export function boxQuery({ client }: Service, bbox: string) {
  return queryOptions({
    queryKey: ['assets', 'box', bbox],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { items } = await client.call('listAssets', { query: { bbox, limit: 24 }, signal });
      return items.filter((asset) => !asset.restricted);
    },
  });
}
