import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { Whiteboard } from '@vitrine/contract/whiteboards';
import type { MissingWords } from '#lib/page-problems.ts';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Each comes with its strokes, so a page is short. */
const pageLength = 12;

/** Lists the whiteboards of a post, newest first. */
export function whiteboardsQuery({ client }: Service, postId: string) {
  return infiniteQueryOptions({
    queryKey: ['whiteboards', postId],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listWhiteboards', {
        params: { id: postId },
        query: pageParams(pageParam, pageLength),
        signal,
      }),
  });
}

/** Reads one whiteboard. The stream of its post says when it has changed. */
export function whiteboardQuery({ client }: Service, id: string) {
  return queryOptions<Whiteboard>({
    queryKey: ['whiteboard', id],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('getWhiteboard', { params: { id }, signal }),
  });
}

export const missingWhiteboard: MissingWords = {
  heading: 'Whiteboard not found',
  message: 'It does not exist, or its post is not shared with you.',
  back: { href: '/', label: 'To the feed' },
};
