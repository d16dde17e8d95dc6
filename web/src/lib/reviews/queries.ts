import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { Approvals } from '@vitrine/contract/approvals';
import type { BodyOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { ReviewQueue } from '@vitrine/contract/reviews';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

const key = ['reviews'];

/** Reads a review with its post. */
export function reviewQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: [...key, 'review', id],
    staleTime: 10_000,
    queryFn: ({ signal }) => client.call('getReview', { params: { id }, signal }),
  });
}

/** Lists the caller's reviews of a queue, newest first. Reloaded at every visit, because others decide. */
export function reviewsQuery({ client }: Service, state: ReviewQueue) {
  return infiniteQueryOptions({
    queryKey: [...key, 'queue', state],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listMyReviews', { query: { ...pageParams(pageParam, 20), state }, signal }),
  });
}

/** Lists the latest reviews of a post that the caller may read. */
export function postReviewsQuery({ client }: Service, postId: string) {
  return queryOptions({
    queryKey: [...key, 'post', postId],
    staleTime: 10_000,
    queryFn: async ({ signal }) =>
      (await client.call('listPostReviews', { params: { id: postId }, query: { limit: 20 }, signal })).items,
  });
}

/** Counts the reviews that wait for the caller and for others. */
export function waitingReviewsQuery({ client }: Service) {
  return queryOptions({
    queryKey: [...key, 'waiting'],
    staleTime: 10_000,
    queryFn: ({ signal }) => client.call('countMyReviews', { signal }),
  });
}

/** Reads everything about reviews again, and the post whose files may have moved to another state. */
async function refresh({ queries }: Service, postId: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: key }),
    queries.invalidateQueries({ queryKey: ['post', postId] }),
  ]);
}

/** Asks for a review and returns its id. */
export async function requestReview(
  service: Service,
  postId: string,
  body: BodyOf<Operations['requestReview']>,
): Promise<string> {
  const { id } = await service.client.call('requestReview', { params: { id: postId }, body });
  await refresh(service, postId);
  return id;
}

/** Decides in a review. On an error, the review is read again: it may be closed, or about another version. */
export async function decideReview(
  service: Service,
  { id, post_id }: { id: string; post_id: string },
  body: BodyOf<Operations['decideReview']>,
): Promise<void> {
  try {
    await service.client.call('decideReview', { params: { id }, body });
  } finally {
    await refresh(service, post_id);
  }
}

export async function closeReview(
  service: Service,
  { id, post_id }: { id: string; post_id: string },
): Promise<void> {
  await service.client.call('closeReview', { params: { id } });
  await refresh(service, post_id);
}

const approvalsKey = [...key, 'approvals'];
const workflowKey = [...key, 'workflow'];

/** Reads how many approvals acts need. */
export function approvalsQuery({ client }: Service) {
  return queryOptions({
    queryKey: approvalsKey,
    queryFn: ({ signal }) => client.call('getApprovals', { signal }),
  });
}

/** Reads the states and the moves between them. */
export function workflowQuery({ client }: Service) {
  return queryOptions({
    queryKey: workflowKey,
    queryFn: ({ signal }) => client.call('getWorkflow', { signal }),
  });
}

export async function saveApprovals({ client, queries }: Service, body: Approvals): Promise<void> {
  queries.setQueryData(approvalsKey, await client.call('updateApprovals', { body }));
}

export async function saveWorkflow(
  { client, queries }: Service,
  body: BodyOf<Operations['updateWorkflow']>,
): Promise<void> {
  queries.setQueryData(workflowKey, await client.call('updateWorkflow', { body }));
  await queries.invalidateQueries({ queryKey: ['asset-states'] });
}
