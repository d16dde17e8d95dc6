import { federationQuery, peersQuery, rejectionsQuery } from '#lib/federation/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await Promise.all([
    readForPage(event, federationQuery),
    readForPage(event, peersQuery),
    readForPage(event, rejectionsQuery),
  ]);
  return { title: 'Peers' };
};
