import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { AccountExport, OwnDeletionRequest } from '@vitrine/contract/account-data';
import { CallError } from '@vitrine/contract/client';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** How often the page looks at an export that is prepared. */
const LOOKED_EVERY_MS = 2000;

/** Returns null for what does not exist. */
function orNull(failure: unknown): null {
  if (failure instanceof CallError && failure.status === 404) return null;
  throw failure;
}

export function isPrepared(made: AccountExport | null | undefined): boolean {
  return made?.state === 'queued' || made?.state === 'running';
}

/** Reads the export of own data, null without one; again and again while it is prepared. */
export function exportQuery({ client }: Service) {
  return queryOptions<AccountExport | null>({
    queryKey: ['account', 'export'],
    staleTime: readAtEveryVisit,
    refetchInterval: ({ state }) => (isPrepared(state.data) ? LOOKED_EVERY_MS : false),
    queryFn: ({ signal }) => client.call('getAccountExport', { signal }).catch(orNull),
  });
}

/** Reads the request to delete own account, null without one. */
export function deletionQuery({ client }: Service) {
  return queryOptions<OwnDeletionRequest | null>({
    queryKey: ['account', 'deletion-request'],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('getDeletionRequest', { signal }).catch(orNull),
  });
}

/** Lists the requests to delete accounts. */
export function deletionsQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'deletion-requests'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listDeletionRequests', { query: pageParams(pageParam), signal }),
  });
}
