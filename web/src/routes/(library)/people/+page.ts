import { directoryQuery } from '#lib/browsing/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) => directoryQuery(service, event.url.searchParams.get('q') ?? ''));
  return { title: 'People' };
};
