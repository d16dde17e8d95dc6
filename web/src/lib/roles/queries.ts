import { queryOptions } from '@tanstack/svelte-query';
import type { Service } from '#lib/service.ts';

/** Lists roles to start from. */
export function roleTemplatesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'role-templates'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('listRoleTemplates', { signal }),
  });
}

/** Reloads what shows roles, after one was changed. */
export async function refreshRoles({ queries }: Service): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['admin', 'roles'] }),
    queries.invalidateQueries({ queryKey: ['admin', 'held'] }),
    queries.invalidateQueries({ queryKey: ['admin', 'accounts'] }),
  ]);
}
