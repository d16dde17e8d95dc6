import { queryOptions } from '@tanstack/svelte-query';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Lists the passkeys of the account. Never cached, because they may be used on other devices. */
export function passkeysQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['account', 'passkeys'],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('listPasskeys', { signal }),
  });
}
