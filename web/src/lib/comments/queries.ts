import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import type { CommentFilter } from './filter.ts';
import type { Mentionable } from './mentions.ts';

/** Lists the comments of a post that meet conditions, newest first, each with its first replies. */
export function threadQuery({ client }: Service, postId: string, filter: CommentFilter = {}) {
  return infiniteQueryOptions({
    queryKey: ['comments', postId, filter],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listComments', {
        params: { id: postId },
        query: { ...pageParams(pageParam, 20), ...filter },
        signal,
      }),
  });
}

/** Lists the replies to a comment, newest first. Loaded when a user requests more than came with the comment. */
export function repliesQuery({ client }: Service, commentId: string, wanted: boolean) {
  return infiniteQueryOptions({
    queryKey: ['replies', commentId],
    enabled: wanted,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listReplies', { params: { id: commentId }, query: pageParams(pageParam, 50), signal }),
  });
}

/** The minimum length of a prefix for a search of people. */
const searched = 3;

/** Searches a few people by a prefix of their name; the rules of the search decide whom the reader may see. */
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
