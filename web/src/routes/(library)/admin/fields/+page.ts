import { definitionsQuery } from '#lib/fields/admin/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, definitionsQuery);
  return { title: 'Fields' };
};
