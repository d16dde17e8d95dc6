import { rolesQuery } from '#lib/admin/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, rolesQuery);
  return { title: 'Roles' };
};
