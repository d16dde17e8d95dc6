import { readListForPage } from '#lib/page-data.svelte.ts';
import { rootsQuery } from '#lib/roots/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, rootsQuery);
  return { title: 'Folders in place' };
};
