import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** The limits of the library and of everyone, and what the library stores. */
export function quotasQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'quotas'],
    queryFn: ({ signal }) => client.call('getQuotas', { signal }),
    staleTime: 0,
  });
}

/** The limit of an account and what it stores. */
export function userQuotaQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['admin', 'quota', ref],
    queryFn: ({ signal }) => client.call('getUserQuota', { params: { ref }, signal }),
    staleTime: 0,
  });
}
