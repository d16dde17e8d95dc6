import { readForPage } from '#lib/page-data.svelte.ts';
import { teamQuery } from '#lib/teams/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const team = await readForPage(event, (service) => teamQuery(service, event.params.id), {
    heading: 'Team not found',
    message: 'It may have been closed.',
    back: { href: '/teams', label: 'To the teams' },
  });
  return { title: team.name };
};
