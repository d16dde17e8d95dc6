import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { AccountExport, OwnDeletionRequest } from '@vitrine/contract/account-data';
import { CallError } from '@vitrine/contract/client';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** The time between two reads of an export that is being prepared. */
const pollMs = 2000;

/** Returns null for a 404; throws other failures. */
function orNull(failure: unknown): null {
  if (failure instanceof CallError && failure.status === 404) return null;
  throw failure;
}

export function isBeingPrepared(made: AccountExport | null | undefined): boolean {
  return made?.state === 'queued' || made?.state === 'running';
}

/** Reads the export of the user’s own data; null if there is none. Polls while it is being prepared. */
export function exportQuery({ client }: Service) {
  return queryOptions<AccountExport | null>({
    queryKey: ['account', 'export'],
    staleTime: readAtEveryVisit,
    refetchInterval: ({ state }) => (isBeingPrepared(state.data) ? pollMs : false),
    queryFn: ({ signal }) => client.call('getAccountExport', { signal }).catch(orNull),
  });
}

/** Reads the request to delete the user’s own account; null if there is none. */
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
