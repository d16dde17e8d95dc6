import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** Reads whether and how people may register. */
export function accountSettingsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'account-settings'],
    queryFn: ({ signal }) => client.call('getAccountSettings', { signal }),
  });
}
