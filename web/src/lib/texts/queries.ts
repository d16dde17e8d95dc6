import { queryOptions } from '@tanstack/svelte-query';
import type { Texts } from '@vitrine/contract/texts';
import type { Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';

/** Reads the operator's texts for editing. */
export function adminTextsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'texts'],
    queryFn: async ({ signal }) => (await client.call('getAdminTexts', { signal })).texts,
  });
}

/** Updates this page and all others after saving. */
export async function putTexts(service: Service, texts: Texts): Promise<void> {
  service.queries.setQueryData(adminTextsQuery(service).queryKey, texts);
  service.queries.removeQueries({ queryKey: ['visitor-state'] });
  await invalidate('vitrine:visitor-state');
}
