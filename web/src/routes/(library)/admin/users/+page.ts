import { accountsQuery } from '#lib/admin/queries.ts';
import { readAccountFilter } from '#lib/admin/status.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) =>
    accountsQuery(service, readAccountFilter(event.url.searchParams)),
  );
  return { title: 'Users' };
};
