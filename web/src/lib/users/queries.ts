import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { foldName } from '@vitrine/contract/names';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** Reads a profile by username. */
export function userQuery({ client }: Service, username: string) {
  return queryOptions({
    queryKey: ['user', foldName(username)],
    queryFn: ({ signal }) => client.call('getUserByUsername', { params: { username }, signal }),
  });
}

/** The start of the keys of all pinned posts. */
export const pinnedPostsKey = ['pinned-posts'] as const;

/** Reads the posts that an account has pinned. */
export function pinnedPostsQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: [...pinnedPostsKey, ref],
    queryFn: async ({ signal }) =>
      (await client.call('listPosts', { query: { pinned_by: ref }, signal })).items,
  });
}

/**
 * Lists the posts of an author, newest first. The key is under `feed`, so that processed pictures are updated there
 * too.
 */
export function authorPostsQuery({ client }: Service, authorRef: number) {
  return infiniteQueryOptions({
    queryKey: ['feed', { author: authorRef }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', { query: { ...pageParams(pageParam), author_ref: authorRef }, signal }),
  });
}
