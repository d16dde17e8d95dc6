import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** One's own account as it can be edited. */
export function profileQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'profile'],
    queryFn: ({ signal }) => client.call('getAccountProfile', { signal }),
  });
}

export function twoFactorQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'two-factor'],
    queryFn: ({ signal }) => client.call('getTwoFactor', { signal }),
  });
}

export function preferencesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'preferences'],
    queryFn: ({ signal }) => client.call('getPreferences', { signal }),
  });
}

/** Where the account is signed in, a page at a time; never from memory, because other devices change it. */
export function sessionsQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['account', 'sessions'],
    staleTime: 0,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listSessions', { query: pageParams(pageParam), signal }),
  });
}

/** Access tokens of the account, a page at a time. */
export function tokensQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['account', 'tokens'],
    staleTime: 0,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listTokens', { query: pageParams(pageParam), signal }),
  });
}
