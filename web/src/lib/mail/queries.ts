import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** Reads the mail settings, without the password. */
export function mailQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'mail'],
    queryFn: ({ signal }) => client.call('getMailSettings', { signal }),
  });
}
