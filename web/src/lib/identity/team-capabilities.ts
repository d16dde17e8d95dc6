import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';
import type { TeamCapabilities } from './allowance.ts';

/** Asked for only where a thing of a team is shown to somebody who could not change it otherwise. */
export function teamCapabilitiesQuery({ client }: Service) {
  return queryOptions<TeamCapabilities>({
    queryKey: ['team-capabilities'],
    staleTime: 300_000,
    queryFn: async ({ signal }) =>
      (await client.call('getMyCapabilities', { signal })).team_capabilities ?? [],
  });
}
