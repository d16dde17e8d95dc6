import { infiniteQueryOptions } from '@tanstack/svelte-query';
import { byCursor, turnTo } from '../paging.ts';
import type { Service } from '../service.ts';

/** The comments of a post, newest first, each with its first replies. */
export function threadQuery({ client }: Service, postId: string) {
  return infiniteQueryOptions({
    queryKey: ['comments', postId],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listComments', { params: { id: postId }, query: turnTo(pageParam, 20), signal }),
  });
}

/** The replies to a comment, newest first; read once somebody wants more than came with it. */
export function repliesQuery({ client }: Service, commentId: string, wanted: boolean) {
  return infiniteQueryOptions({
    queryKey: ['replies', commentId],
    enabled: wanted,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listReplies', { params: { id: commentId }, query: turnTo(pageParam, 50), signal }),
  });
}
