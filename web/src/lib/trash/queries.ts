import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { TrashItem, TrashScope } from '@vitrine/contract/trash';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Lists deleted items, latest first. Reloaded at every visit, because the trash changes elsewhere. */
export function trashQuery({ client }: Service, scope: TrashScope) {
  return infiniteQueryOptions({
    queryKey: ['trash', scope],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listTrash', { query: { ...pageParams(pageParam), scope }, signal }),
  });
}

/** Reads the profile of the person who deleted an item. */
export function deleterQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['trash-deleter', ref],
    staleTime: 300_000,
    queryFn: async ({ signal }) => (await client.call('getUser', { params: { ref }, signal })).display_name,
  });
}

/** Reads the retention of the trash. */
export function retentionQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['trash-retention'],
    queryFn: ({ signal }) => client.call('getTrashRetention', { signal }),
  });
}

const restores = { asset: 'restoreAsset', post: 'restorePost', collection: 'restoreCollection' } as const;

/** Restores an item and invalidates everything that was shown without it. */
export async function restore({ client, queries }: Service, { kind, id }: TrashItem): Promise<void> {
  await client.call(restores[kind], { params: { id } });
  for (const key of [
    'trash',
    'feed',
    'post',
    'assets',
    'asset',
    'appearances',
    'collections',
    'collection',
  ]) {
    queries.removeQueries({ queryKey: [key], type: 'inactive' });
  }
}
