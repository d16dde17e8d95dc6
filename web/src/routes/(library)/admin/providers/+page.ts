import { readForPage } from '#lib/page-data.svelte.ts';
import { providersQuery } from '#lib/providers/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, providersQuery);
  return { title: 'Identity providers' };
};
