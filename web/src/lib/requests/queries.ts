import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { ShownAsset } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { ResourceRequest } from '@vitrine/contract/requests';
import type { TrashScope } from '@vitrine/contract/trash';
import { nameOf } from '#lib/assets/labels.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { collectionPage } from '#lib/page-addresses.ts';
import { byCursor, pageParams } from '#lib/paging.ts';
import { coverAssetOf, titleOf } from '#lib/posts/cover.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';
import type { Queue, RequestState } from './queue.ts';

type QueuePages = InfiniteData<AnswerOf<Operations['listMyRequests']>, string>;

/** Each row reads its target, so pages are short. */
const rowsAtOnce = 20;

const queueOperations = {
  incoming: 'listIncomingRequests',
  mine: 'listMyRequests',
  all: 'listAllRequests',
} as const;

/**
 * Returns the operation that lists a queue. What waits for holders of `share.grant` is among all requests, because the
 * queue of an account has only requests for its own files and deletions.
 */
function queueOperation(queue: Queue, state: RequestState | '', decidesAll: boolean) {
  const isWaiting = queue === 'incoming' && (state === '' || state === 'pending');
  return decidesAll && isWaiting
    ? { id: queueOperations.all, state: 'pending' as const, isWaiting }
    : { id: queueOperations[queue], state, isWaiting: false };
}

/** Lists a queue, newest first. Reloaded at every visit, because others add and decide requests. */
export function queueQuery(
  { client }: Service,
  { queue, state, decidesAll }: { queue: Queue; state: RequestState | ''; decidesAll: boolean },
) {
  const listed = queueOperation(queue, state, decidesAll);
  return infiniteQueryOptions({
    queryKey: ['requests', 'queue', queue, state, decidesAll],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: async ({ pageParam, signal }) => {
      const page = await client.call(listed.id, {
        query: {
          ...pageParams(pageParam, rowsAtOnce),
          ...(listed.state === '' ? {} : { state: listed.state }),
        },
        signal,
      });
      if (!listed.isWaiting) return page;
      return { ...page, items: page.items.filter((request) => request.decidable_by_caller) };
    },
  });
}

const askedKey = ['requests', 'asked'];

/** Reads the ids of the assets with a pending access request of the caller: the latest 200. */
export function askedQuery({ client }: Service) {
  return queryOptions({
    queryKey: askedKey,
    queryFn: async ({ signal }) => {
      const { items } = await client.call('listMyRequests', {
        query: { state: 'pending', limit: 200 },
        signal,
      });
      return items
        .filter((request) => request.requested_capability === 'content.access.request')
        .map((request) => request.target_id);
    },
  });
}

/** Requests access to an asset. Rejects with CallError. */
export async function requestAccess({ client, queries }: Service, id: string, reason: string): Promise<void> {
  try {
    await client.call('requestAccess', { params: { id }, body: reason === '' ? {} : { reason } });
  } catch (error) {
    const problem = phrase('it cannot be requested now');
    throw error instanceof CallError && error.status === 404 ? new CallError(404, problem) : error;
  }
  // A response in flight may be older than this request.
  await queries.cancelQueries({ queryKey: askedKey });
  queries.setQueryData<string[]>(askedKey, (ids) => [...(ids ?? []), id]);
  void queries.invalidateQueries({ queryKey: ['requests'] });
}

/** Reads the number of requests waiting for the caller, as a number or "20+"; empty for none. */
export function waitingQuery({ client }: Service, decidesAll: boolean) {
  return queryOptions({
    queryKey: ['requests', 'waiting', decidesAll],
    staleTime: 10_000,
    queryFn: async ({ signal }) => {
      const { id } = queueOperation('incoming', 'pending', decidesAll);
      const { items, next_cursor } = await client.call(id, {
        query: { state: 'pending', limit: 20 },
        signal,
      });
      const count = items.filter((request) => request.decidable_by_caller).length;
      return count === 0 ? '' : `${count}${next_cursor === null ? '' : '+'}`;
    },
  });
}

/** The target of a request, as far as the caller may see it. */
export interface Target {
  readonly name: string;
  readonly href: string;
  readonly picture: ShownAsset | undefined;
}

/** Reads the live target of a request; null if the caller may not see it. */
export function targetQuery({ client }: Service, kind: ResourceRequest['target_kind'], id: string) {
  return queryOptions<Target | null>({
    queryKey: ['request-target', kind, id],
    queryFn: async ({ signal }) => {
      try {
        if (kind === 'collection') {
          const { name } = await client.call('getCollection', { params: { id }, signal });
          return { name: phrase(`“${name}”`), href: collectionPage(id), picture: undefined };
        }
        if (kind === 'post') {
          const post = await client.call('getPost', { params: { id }, signal });
          return { name: phrase(`“${titleOf(post)}”`), href: `/posts/${id}`, picture: coverAssetOf(post) };
        }
        const asset = await client.call('getAsset', { params: { id }, signal });
        const href = `/assets/${id}`;
        if (!asset.restricted) return { name: phrase(`“${nameOf(asset)}”`), href, picture: asset };
        const owner = asset.owner_display_name;
        const name = owner === undefined ? phrase('an asset') : `an asset of ${owner}`;
        return { name, href, picture: undefined };
      } catch (error) {
        if (error instanceof CallError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

/** Reads the titles of the latest 200 items in a trash, by id. */
export function trashNamesQuery({ client }: Service, scope: TrashScope) {
  return queryOptions<Record<string, string>>({
    queryKey: ['request-trash', scope],
    queryFn: async ({ signal }) => {
      const { items } = await client.call('listTrash', { query: { scope, limit: 200 }, signal });
      return Object.fromEntries(items.map((item) => [item.id, phrase(`“${nameOf(item)}”`)]));
    },
  });
}

/**
 * Shares the requested asset with the requester, until `expiresAt` if given. The decision is recorded before, so an
 * error only means that the share is missing.
 */
export async function shareRequestedAsset(
  { client, queries }: Service,
  { target_id: id, requester_user_ref: user_ref }: ResourceRequest,
  expiresAt: string | null,
): Promise<void> {
  try {
    await client.call('putAssetShare', { params: { id, user_ref }, body: { expires_at: expiresAt } });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const problem = `your agreement is recorded, but the file was not shared: ${error.message}`;
    throw new CallError(error.status, problem);
  }
  void queries.invalidateQueries({ queryKey: ['shares', id] });
}

/** A decision in the form. `expires_at` is omitted if it cannot expire. */
export interface Decision {
  readonly decision: 'granted' | 'denied';
  readonly reason?: string;
  readonly expires_at?: string | null;
}

/** Decides a request and updates all queues. Rejects with CallError and then reloads the current state. */
export async function decide(service: Service, request: ResourceRequest, body: Decision): Promise<void> {
  const { client, queries } = service;
  try {
    const decided = await client.call('decideRequest', { params: { id: request.id }, body });
    queries.setQueriesData<QueuePages>({ queryKey: ['requests', 'queue'] }, (list) =>
      list === undefined
        ? undefined
        : { ...list, pages: list.pages.map((page) => withDecided(page, decided)) },
    );
    void queries.invalidateQueries({ queryKey: ['requests', 'waiting'] });
    if (body.decision === 'granted' && request.requested_capability === 'content.restore.request') {
      for (const key of [
        'request-target',
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
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const words = refusals[error.status];
    if (words === undefined) throw error;
    void queries.invalidateQueries({ queryKey: ['requests'] });
    throw new CallError(error.status, words);
  }
}

const refusals: Readonly<Record<number, string>> = {
  403: phrase('this request is not yours to decide any more'),
  404: phrase('what it is about is not in the trash any more'),
  409: phrase('it has already been decided; the list shows the outcome'),
};

function withDecided(
  page: QueuePages['pages'][number],
  decided: ResourceRequest,
): QueuePages['pages'][number] {
  return {
    ...page,
    items: page.items.map((item) =>
      item.id === decided.id ? { ...item, ...decided, decidable_by_caller: false } : item,
    ),
  };
}
