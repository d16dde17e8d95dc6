import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** A profile by its handle. */
export function userQuery({ client }: Service, username: string) {
  return queryOptions({
    queryKey: ['user', username.toLowerCase()],
    queryFn: ({ signal }) => client.call('getUserByUsername', { params: { username }, signal }),
  });
}

/** What somebody published, newest first. Under `feed`, so that pictures in the making get fresh there too. */
export function authorPostsQuery({ client }: Service, authorRef: number) {
  return infiniteQueryOptions({
    queryKey: ['feed', { author: authorRef }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', { query: { ...pageParams(pageParam), author_ref: authorRef }, signal }),
  });
}
