import { queryOptions } from '@tanstack/svelte-query';
import { readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** Lists the identity providers with their settings. */
export function providersQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'providers'],
    queryFn: ({ signal }) => readToEnd((page) => client.call('listProviders', { query: page, signal })),
  });
}

/** Reads one identity provider. */
export function providerQuery({ client }: Service, name: string) {
  return queryOptions({
    queryKey: ['admin', 'provider', name],
    queryFn: ({ signal }) => client.call('getProvider', { params: { name }, signal }),
  });
}

/** Reloads what shows providers, after one was changed. */
export async function refreshProviders({ queries }: Service): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['admin', 'providers'] }),
    queries.invalidateQueries({ queryKey: ['admin', 'provider'] }),
    queries.invalidateQueries({ queryKey: ['sign-in-providers'] }),
  ]);
}

/** Lists the tokens of a provider's directory. */
export function scimTokensQuery({ client }: Service, name: string) {
  return queryOptions({
    queryKey: ['admin', 'scim-tokens', name],
    queryFn: ({ signal }) =>
      readToEnd((page) => client.call('listScimTokens', { params: { name }, query: page, signal })),
  });
}
