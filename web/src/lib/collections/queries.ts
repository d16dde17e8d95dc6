import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { ShownAsset } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import type { Collection, CollectionUpdate } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';
import { phrase } from '#lib/languages/phrase.ts';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import { firstShownOf } from './cover-picture.ts';
import type { ItemRef } from './item.ts';

/** The shelves: the user's own collections, or all that they may open. */
export type Shelf = 'mine' | 'all';

/** Lists collections, newest first; an empty `q` lists all. */
export function collectionsQuery({ client }: Service, shelf: Shelf, q: string) {
  return infiniteQueryOptions({
    queryKey: ['collections', shelf, q],
    staleTime: 5_000,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listCollections', {
        query: {
          ...pageParams(pageParam),
          ...(shelf === 'mine' ? { mine: true } : {}),
          ...(q === '' ? {} : { q }),
        },
        signal,
      }),
  });
}

/** Lists the caller's latest collections, up to 200, for a choice. */
export function ownCollectionsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['collections', 'own'],
    staleTime: 5_000,
    queryFn: async ({ signal }) =>
      (await client.call('listCollections', { query: { mine: true, limit: 200 }, signal })).items,
  });
}

/** Reads one collection. Becomes stale quickly, because others change it. */
export function collectionQuery({ client }: Service, id: string) {
  return queryOptions<Collection>({
    queryKey: ['collection', id],
    staleTime: 5_000,
    queryFn: ({ signal }) => client.call('getCollection', { params: { id }, signal }),
  });
}

/**
 * Lists a collection's posts in its order. The key is under `feed`, so that likes and processed pictures are updated
 * there too.
 */
export function collectionPostsQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['feed', { collection: id }],
    staleTime: 5_000,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listCollectionPosts', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** Lists the posts and files of a collection in its order. */
export function collectionItemsQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['collection-items', id],
    staleTime: 5_000,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listCollectionItems', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** Lists the ids of the caller's own collections that contain a post or file. */
export function savedInQuery({ client }: Service, { kind, id }: ItemRef) {
  const containing = kind === 'post' ? { containing: id } : { containing_asset: id };
  return queryOptions({
    queryKey: ['collections-containing', kind, id],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const found = await readToEnd((turn) =>
        client.call('listCollections', { query: { ...turn, mine: true, ...containing }, signal }),
      );
      return found.map((collection) => collection.id);
    },
  });
}

/** Reads the picture of a post for a cover; null if there is none to show. */
export function pictureOfPostQuery(service: Service, post: Post | undefined) {
  return queryOptions<ShownAsset | null>({
    queryKey: ['collection-picture', post?.id, post?.updated_at],
    enabled: post !== undefined,
    queryFn: async () => {
      if (post === undefined) return null;
      const thumbnail = post.cover_thumbnail_asset_id;
      const asset = thumbnail == null ? null : await shownAsset(service, thumbnail);
      return asset ?? firstShownOf(post) ?? null;
    },
  });
}

/** Reads an asset by id; null if the caller may not see it. */
export function shownAssetQuery(service: Service, id: string | undefined) {
  return queryOptions<ShownAsset | null>({
    queryKey: ['collection-cover', id],
    enabled: id !== undefined,
    queryFn: () => (id === undefined ? null : shownAsset(service, id)),
  });
}

async function shownAsset({ client }: Service, id: string): Promise<ShownAsset | null> {
  try {
    const asset = await client.call('getAsset', { params: { id } });
    return asset.restricted ? null : asset;
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return null;
    throw error;
  }
}

/** Stores a collection as returned by the service, and invalidates the lists that name it. */
export async function putCollection({ queries }: Service, collection: Collection): Promise<void> {
  queries.setQueryData<Collection>(['collection', collection.id], collection);
  await queries.invalidateQueries({ queryKey: ['collections'] });
}

/** Reloads a collection with its posts, and the lists that count or picture it. */
export async function refreshCollection({ queries }: Service, id: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['collection', id] }),
    queries.invalidateQueries({ queryKey: ['feed', { collection: id }] }),
    queries.invalidateQueries({ queryKey: ['collection-items', id] }),
    queries.invalidateQueries({ queryKey: ['collections'] }),
  ]);
}

/** Removes a deleted collection from the cache. */
export async function forgetCollection({ queries }: Service, id: string): Promise<void> {
  queries.removeQueries({ queryKey: ['collection', id] });
  queries.removeQueries({ queryKey: ['feed', { collection: id }] });
  queries.removeQueries({ queryKey: ['collection-items', id] });
  for (const key of ['collections-containing', 'trash']) queries.removeQueries({ queryKey: [key] });
  await queries.invalidateQueries({ queryKey: ['collections'] });
}

/**
 * Changes a collection if it has not changed since `updated_at`. After a conflict, calls `overtaken` with the current
 * state, so that the same changes can be sent again. Rejects with CallError.
 */
export async function changeCollection(
  service: Service,
  { id, updated_at }: Pick<Collection, 'id' | 'updated_at'>,
  body: CollectionUpdate,
  overtaken: (newer: Collection) => void = () => {},
): Promise<void> {
  const { client } = service;
  try {
    const change = { ...body, if_unchanged_since: updated_at };
    await putCollection(service, await client.call('updateCollection', { params: { id }, body: change }));
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 409) throw error;
    const newer = await client.call('getCollection', { params: { id } });
    overtaken(newer);
    await putCollection(service, newer);
    const problem = phrase('the collection has changed; saving again overwrites those changes');
    throw new CallError(409, problem);
  }
}
