import { queryOptions } from '@tanstack/svelte-query';
import type { Texts } from '@vitrine/contract/texts';
import type { Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';

/** The operator's own words, as they are to be edited. */
export function adminTextsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'texts'],
    queryFn: async ({ signal }) => (await client.call('getAdminTexts', { signal })).texts,
  });
}

/** Shows what was saved, on this page and on every other. */
export async function putTexts(service: Service, texts: Texts): Promise<void> {
  service.queries.setQueryData(adminTextsQuery(service).queryKey, texts);
  service.queries.removeQueries({ queryKey: ['visitor-state'] });
  await invalidate('vitrine:visitor-state');
}
