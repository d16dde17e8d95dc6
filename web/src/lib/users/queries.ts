import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { Service } from '../service.ts';

const pageLength = 50;

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
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', {
        query: {
          limit: pageLength,
          author_ref: authorRef,
          ...(pageParam === '' ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}
