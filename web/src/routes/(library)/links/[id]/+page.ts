import { guestsQuery } from '#lib/guests/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) => guestsQuery(service, event.params.id));
  return { title: 'Guests of your link' };
};
