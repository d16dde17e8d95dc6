import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
} from '@tanstack/svelte-query';
import type { Asset, ShownAsset } from '@vitrine/contract/assets';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { Post } from '@vitrine/contract/posts';
import { byCursor, pageParams } from '#lib/paging.ts';
import { putFreshAssets } from '#lib/posts/queries.ts';
import type { ReadKeys } from '#lib/selection/read-keys.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';
import { withSeededLabel } from '#lib/translations/seeded.ts';
import { rereadAfter } from './arrival.ts';
import { type AssetFilter, assetFiltersOf, assetQueryOf } from './asset-filter.ts';

type Library = InfiniteData<AnswerOf<Operations['listAssets']>, string>;

/** Lists the history of an asset, newest first. */
export function assetHistoryQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['asset-history', id],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAssetHistory', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** Pages of a library that are read again when it is opened. A reload reads all of them. */
const mostReread = 4;

function isShort({ state }: { readonly state: { readonly data: Library | undefined } }): boolean {
  return (state.data?.pages.length ?? 0) <= mostReread;
}

/** Lists a library. Becomes stale quickly, because uploads should appear. */
export function libraryQuery({ client }: Service, filter: AssetFilter, ownRef: number) {
  return infiniteQueryOptions({
    queryKey: ['assets', filter, ownRef],
    staleTime: 5_000,
    refetchOnMount: isShort,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAssets', {
        query: {
          ...pageParams(pageParam, pageParam === '' ? 50 : 200),
          ...assetQueryOf(filter, ownRef),
          stacks: filter.stacks ?? 'top',
        },
        signal,
      }),
  });
}

/** Returns a function that reads the ids of a library without placeholders, page by page. */
export function libraryIds({ client }: Service, filter: AssetFilter, ownRef: number): ReadKeys {
  return async (page) => {
    const query = { ...page, ...assetQueryOf(filter, ownRef) };
    const { items, next_cursor } = await client.call('listAssets', { query });
    return { items: items.filter(({ restricted }) => !restricted).map(({ id }) => id), next_cursor };
  };
}

/** Counts a library without placeholders. */
export function libraryCountQuery({ client }: Service, filter: AssetFilter, ownRef: number) {
  return queryOptions({
    queryKey: ['asset-count', filter, ownRef],
    staleTime: 5_000,
    queryFn: ({ signal }) => client.call('countAssets', { query: assetFiltersOf(filter, ownRef), signal }),
  });
}

/** Lists the related files of an asset that the caller is shown, the newest relation first. */
export function relatedQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['related', id],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listRelatedAssets', { params: { id }, query: pageParams(pageParam, 24), signal }),
  });
}

/** Relates two files, or ends their relation, and reads the related files of both again. */
export async function setRelated(
  { client, queries }: Service,
  [id, other]: readonly [string, string],
  related: boolean,
): Promise<void> {
  await client.call(related ? 'addRelatedAsset' : 'removeRelatedAsset', { params: { id, other } });
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['related', id] }),
    queries.invalidateQueries({ queryKey: ['related', other] }),
  ]);
}

/** Reads one asset or its placeholder; polls while its renditions are being made and its metadata are read. */
export function assetQuery({ client }: Service, id: string) {
  return queryOptions<Asset>({
    queryKey: ['asset', id],
    queryFn: ({ signal }) => client.call('getAsset', { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data === undefined ? false : rereadAfter(state.data)),
  });
}

/** Reads the sizes in which pictures exist. */
export function previewsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['previews'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => client.call('getPreviews'),
  });
}

/** Lists the asset types, which rarely change. */
export function assetTypesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['asset-types'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('listAssetTypes', { signal }),
    select: (types) => types.map((type) => withSeededLabel('kind', type)),
  });
}

/** The posts with an asset that the caller may read, and the number of all others, if the caller may see it. */
export interface Appearances {
  readonly posts: readonly Post[];
  readonly withheld: number | undefined;
}

/** Uses POST-40 for callers who may see the number of other posts, and POST-41 for everyone else. */
export function appearancesQuery({ client }: Service, id: string, mayAskForAll: boolean) {
  return queryOptions<Appearances>({
    queryKey: ['appearances', id, mayAskForAll],
    queryFn: async ({ signal }) => {
      if (!mayAskForAll) {
        return {
          posts: await client.call('listPostsByAsset', { params: { id }, signal }),
          withheld: undefined,
        };
      }
      const answer = await client.call('listAssetPosts', { params: { id }, signal });
      return { posts: answer.items, withheld: answer.withheld_count };
    },
  });
}

/** Updates assets in all cached libraries. */
export function putIntoLibraries(queries: QueryClient, assets: readonly ShownAsset[]): void {
  const fresh = new Map(assets.map((asset) => [asset.id, asset]));
  queries.setQueriesData<Library>({ queryKey: ['assets'] }, (library) =>
    library === undefined
      ? undefined
      : {
          ...library,
          pages: library.pages.map((page) => ({
            ...page,
            items: page.items.map((asset) => fresh.get(asset.id) ?? asset),
          })),
        },
  );
}

/** Updates an asset wherever it is cached, and invalidates the lists that it may have joined or left. */
export async function showChanged({ queries }: Service, asset: ShownAsset): Promise<void> {
  queries.setQueryData(assetKey(asset.id), asset);
  putIntoLibraries(queries, [asset]);
  putFreshAssets(queries, [asset]);
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['assets'], refetchType: 'none' }),
    queries.invalidateQueries({ queryKey: ['post'] }),
  ]);
}

/** Invalidates everything that shows an asset that was deleted or restored. */
export function forgetAsset({ queries }: Service, id: string): void {
  queries.removeQueries({ queryKey: assetKey(id) });
  for (const key of ['assets', 'asset-count', 'feed', 'post', 'appearances', 'trash']) {
    queries.removeQueries({ queryKey: [key], type: 'inactive' });
    void queries.invalidateQueries({ queryKey: [key] });
  }
}

function assetKey(id: string) {
  return ['asset', id];
}
