import { peerFieldsQuery } from '#lib/federation/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, (service) => peerFieldsQuery(service, event.params.id));
  return { title: 'Fields of a peer' };
};
