import { readListForPage } from '#lib/page-data.svelte.ts';
import { reviewsQuery } from '#lib/reviews/queries.ts';
import { readQueue } from '#lib/reviews/words.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) => reviewsQuery(service, readQueue(event.url.searchParams)));
  return { title: 'Reviews' };
};
