import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';
import { withSeededLabel } from '#lib/translations/seeded.ts';
import type { Subject } from './subjects.ts';

/** Lists the states of the workflow of assets or posts, which rarely change. */
export function statesQuery({ client }: Service, domain: Subject) {
  return queryOptions({
    queryKey: [`${domain}-states`],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('listWorkflowStates', { query: { domain }, signal }),
    select: (states) => states.map((state) => withSeededLabel('state', state)),
  });
}
