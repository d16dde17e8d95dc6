import { readListForPage } from '#lib/page-data.svelte.ts';
import { tagsQuery } from '#lib/tags/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) => tagsQuery(service, event.url.searchParams.get('q') ?? ''));
  return { title: 'Tags' };
};
