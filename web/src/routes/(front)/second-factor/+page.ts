import { twoFactorQuery } from '#lib/account/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await event.parent();
  await readForPage(event, twoFactorQuery);
  return { title: 'Set up a second factor' };
};
