import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { phrase } from '#lib/languages/phrase.ts';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Reads the user's own account for editing. */
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

/** Lists the sessions of the account. Never cached, because other devices change them. */
export function sessionsQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['account', 'sessions'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listSessions', { query: pageParams(pageParam), signal }),
  });
}

/** Lists the access tokens of the account. */
export function tokensQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['account', 'tokens'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listTokens', { query: pageParams(pageParam), signal }),
  });
}

/** Lists the identities at providers that are linked to the user. */
export function identitiesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'identities'],
    queryFn: async ({ signal }) => (await client.call('listIdentities', { signal })).items,
  });
}

/** Lists the providers with which people sign in. */
export function signInProvidersQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['sign-in-providers'],
    queryFn: ({ signal }) => client.call('listSignInProviders', { signal }),
  });
}

/** Lists the recent sign-ins of the account. Never cached, because they are read to find strangers. */
export function signInsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'sign-ins'],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('listSignIns', { signal }),
  });
}

/** Returns what people call an identity provider, by its name. */
export function providerLabels(
  providers: readonly { name: string; label: string }[],
): (name: string) => string {
  return (name) => providers.find((provider) => provider.name === name)?.label ?? phrase(`“${name}”`);
}
