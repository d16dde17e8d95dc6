import { queryOptions } from '@tanstack/svelte-query';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Reads the quotas of the library and of accounts, and the use of the library. */
export function quotasQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'quotas'],
    queryFn: ({ signal }) => client.call('getQuotas', { signal }),
    staleTime: readAtEveryVisit,
  });
}

/** Reads the quota of an account and its use. */
export function userQuotaQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'quota', ref],
    queryFn: ({ signal }) => client.call('getUserQuota', { params: { ref }, signal }),
    staleTime: 0,
  });
}
