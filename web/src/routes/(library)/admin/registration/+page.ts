import { readForPage } from '#lib/page-data.svelte.ts';
import { accountSettingsQuery } from '#lib/registration/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, accountSettingsQuery);
  return { title: 'Registration' };
};
