import { siteQuery } from '#lib/appearance/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import { quotasQuery } from '#lib/quotas/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await Promise.all([readForPage(event, siteQuery), readForPage(event, quotasQuery)]);
  return { title: 'Site' };
};
