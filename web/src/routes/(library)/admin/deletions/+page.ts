import { deletionsQuery } from '#lib/account-data/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, deletionsQuery);
  return { title: 'Deletion requests' };
};
