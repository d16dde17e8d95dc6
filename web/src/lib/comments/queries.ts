import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import type { Mentionable } from './mentions.ts';

/** The comments of a post, newest first, each with its first replies. */
export function threadQuery({ client }: Service, postId: string) {
  return infiniteQueryOptions({
    queryKey: ['comments', postId],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listComments', { params: { id: postId }, query: pageParams(pageParam, 20), signal }),
  });
}

/** The replies to a comment, newest first; read once somebody wants more than came with it. */
export function repliesQuery({ client }: Service, commentId: string, wanted: boolean) {
  return infiniteQueryOptions({
    queryKey: ['replies', commentId],
    enabled: wanted,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listReplies', { params: { id: commentId }, query: pageParams(pageParam, 50), signal }),
  });
}

/** Beginnings of this length and more are words that a search of people goes by. */
const searched = 3;

/** People the library knows by a beginning of their name, few; the search's own rules say who may know of whom. */
export function peopleQuery({ client }: Service, typed: string) {
  const q = typed.trim().slice(0, 100);
  return queryOptions<readonly Mentionable[]>({
    queryKey: ['people', q],
    enabled: q !== '',
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      if ([...q].length < searched) {
        const { items } = await client.call('suggest', { query: { q }, signal });
        return items.flatMap(({ user }) => (user === undefined ? [] : [user]));
      }
      const { items } = await client.call('search', { query: { q, kind: 'user', limit: 10 }, signal });
      return items.flatMap((hit) => (hit.kind === 'user' ? [hit.user] : []));
    },
  });
}
