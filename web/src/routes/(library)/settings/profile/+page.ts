import { profileQuery } from '#lib/account/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, profileQuery);
  return { title: 'Profile' };
};
