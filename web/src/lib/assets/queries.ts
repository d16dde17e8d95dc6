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
import type { Service } from '#lib/service.ts';
import { type AssetFilter, assetQueryOf } from './asset-filter.ts';

type Library = InfiniteData<AnswerOf<Operations['listAssets']>, string>;

/** A library, newest first. What was just uploaded belongs in it, so it is not trusted for long. */
export function libraryQuery({ client }: Service, filter: AssetFilter, ownRef: number) {
  return infiniteQueryOptions({
    queryKey: ['assets', filter, ownRef],
    staleTime: 5_000,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAssets', {
        query: { ...pageParams(pageParam), ...assetQueryOf(filter, ownRef) },
        signal,
      }),
  });
}

/** One asset or its placeholder; asked for again while its pictures are in the making. */
export function assetQuery({ client }: Service, id: string) {
  return queryOptions<Asset>({
    queryKey: ['asset', id],
    queryFn: ({ signal }) => client.call('getAsset', { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isPending(state.data) ? 2000 : false),
  });
}

/** Whether its pictures are still in the making. */
export function isPending(asset: Asset): boolean {
  return !asset.restricted && asset.processing_status === 'pending';
}

/** The kinds of asset, which hardly ever change. */
export function assetTypesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['asset-types'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('listAssetTypes', { signal }),
  });
}

/** The states of the asset workflow, which hardly ever change. */
export function assetStatesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['asset-states'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('listWorkflowStates', { query: { domain: 'asset' }, signal }),
  });
}

/** Where an asset appears: posts the caller may read, and how many others there are, if that is told. */
export interface Appearances {
  readonly posts: readonly Post[];
  readonly withheld: number | undefined;
}

/** POST-40 for who may ask for the number of the others, POST-41 for everybody else. */
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

/** Puts newer states of assets into every library that shows them. */
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

/** Shows an asset's newer state wherever it is shown. Which lists it is in may have changed with it. */
export async function showChanged({ queries }: Service, asset: ShownAsset): Promise<void> {
  queries.setQueryData(assetKey(asset.id), asset);
  putIntoLibraries(queries, [asset]);
  putFreshAssets(queries, [asset]);
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['assets'], refetchType: 'none' }),
    queries.invalidateQueries({ queryKey: ['post'] }),
  ]);
}

/** Lets go of everything that shows an asset which went into the trash or came back from it. */
export function forgetAsset({ queries }: Service, id: string): void {
  queries.removeQueries({ queryKey: assetKey(id) });
  for (const key of ['assets', 'feed', 'post', 'appearances', 'trash']) {
    queries.removeQueries({ queryKey: [key], type: 'inactive' });
    void queries.invalidateQueries({ queryKey: [key] });
  }
}

function assetKey(id: string) {
  return ['asset', id];
}
