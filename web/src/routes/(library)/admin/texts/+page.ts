import { readForPage } from '#lib/page-data.svelte.ts';
import { adminTextsQuery } from '#lib/texts/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, adminTextsQuery);
  return { title: 'Texts' };
};
