import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { ShownAsset } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import type { Collection, CollectionUpdate } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import { firstShownOf } from './cover-picture.ts';

/** Whose collections: one's own, or all one may open. */
export type Shelf = 'mine' | 'all';

/** Collections, newest first; `q` empty for all. */
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

/** The caller's latest collections, up to 200, to choose one of. */
export function ownCollectionsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['collections', 'own'],
    staleTime: 5_000,
    queryFn: async ({ signal }) =>
      (await client.call('listCollections', { query: { mine: true, limit: 200 }, signal })).items,
  });
}

/** One collection. Others fill and change it, so it is not trusted for long. */
export function collectionQuery({ client }: Service, id: string) {
  return queryOptions<Collection>({
    queryKey: ['collection', id],
    staleTime: 5_000,
    queryFn: ({ signal }) => client.call('getCollection', { params: { id }, signal }),
  });
}

/** A collection's posts in its order. Under `feed`, so that likes and pictures in the making get fresh there too. */
export function collectionPostsQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['feed', { collection: id }],
    staleTime: 5_000,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listCollectionPosts', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** The ids of the caller's own collections that have a post in them. */
export function savedInQuery({ client }: Service, postId: string) {
  return queryOptions({
    queryKey: ['collections-containing', postId],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const found = await readToEnd((turn) =>
        client.call('listCollections', { query: { ...turn, mine: true, containing: postId }, signal }),
      );
      return found.map((one) => one.id);
    },
  });
}

/** The picture that stands for a post on a cover; null when there is none to show. */
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

/** An asset by its id; null when the caller is not shown it. */
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

/** Shows what the service said of a collection last, and lets the lists that name it be read anew. */
export async function putCollection({ queries }: Service, collection: Collection): Promise<void> {
  queries.setQueryData<Collection>(['collection', collection.id], collection);
  await queries.invalidateQueries({ queryKey: ['collections'] });
}

/** Reads a collection anew with its posts, and with it the lists that count and picture it. */
export async function refreshCollection({ queries }: Service, id: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['collection', id] }),
    queries.invalidateQueries({ queryKey: ['feed', { collection: id }] }),
    queries.invalidateQueries({ queryKey: ['collections'] }),
  ]);
}

/** Forgets a collection that went into the trash. */
export async function forgetCollection({ queries }: Service, id: string): Promise<void> {
  queries.removeQueries({ queryKey: ['collection', id] });
  queries.removeQueries({ queryKey: ['feed', { collection: id }] });
  for (const key of ['collections-containing', 'trash']) queries.removeQueries({ queryKey: [key] });
  await queries.invalidateQueries({ queryKey: ['collections'] });
}

/**
 * Changes a collection that stands as `updated_at` says. When somebody else was faster, `overtaken` is told how it
 * stands now, so that the same can be sent again over theirs. Rejects with CallError.
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
    throw new CallError(
      409,
      'somebody else changed this collection meanwhile; saving again puts your changes over theirs',
    );
  }
}
