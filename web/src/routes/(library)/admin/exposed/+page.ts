import { exposedQuery } from '#lib/admin/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, exposedQuery);
  return { title: 'Widely visible files' };
};
