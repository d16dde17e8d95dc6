import { userSignInsQuery } from '#lib/admin/queries.ts';
import { readSignInFilter } from '#lib/admin/sign-in-filter.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) =>
    userSignInsQuery(service, readSignInFilter(event.url.searchParams)),
  );
  return { title: 'Sign-ins' };
};
