import { infiniteQueryOptions } from '@tanstack/svelte-query';
import { byCursor, pageParams } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** Lists invitations, newest first. */
export function invitationsQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'invitations'],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listInvitations', { query: pageParams(pageParam), signal }),
  });
}
