import { requireCapability } from '#lib/identity/required.ts';
import { readForPage, readListForPage } from '#lib/page-data.svelte.ts';
import { followedTeamsQuery, teamsQuery } from '#lib/teams/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  requireCapability((await event.parent()).visitorState.user, 'teams.read');
  await Promise.all([
    readListForPage(event, (service) => teamsQuery(service, event.url.searchParams.get('q') ?? '')),
    readForPage(event, followedTeamsQuery),
  ]);
  return { title: 'Teams' };
};
