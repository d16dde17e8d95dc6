import { readListForPage } from '#lib/page-data.svelte.ts';
import { trashQuery } from '#lib/trash/queries.ts';
import { readScope } from '#lib/trash/words.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) => trashQuery(service, readScope(event.url.searchParams)));
  return { title: 'Trash' };
};
