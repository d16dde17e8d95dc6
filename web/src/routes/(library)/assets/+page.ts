import { readAssetFilter } from '#lib/assets/asset-filter.ts';
import { libraryQuery } from '#lib/assets/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  if (user !== null) {
    const filter = readAssetFilter(event.url.searchParams);
    await readListForPage(event, (service) => libraryQuery(service, filter, user.ref));
  }
  return { title: 'Assets' };
};
