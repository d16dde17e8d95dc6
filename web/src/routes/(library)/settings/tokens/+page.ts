import { tokensQuery } from '#lib/account/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, tokensQuery);
  return { title: 'Access tokens' };
};
