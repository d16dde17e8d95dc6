import { readForPage } from '#lib/page-data.svelte.ts';
import { userQuery } from '#lib/users/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const profile = await readForPage(event, (service) => userQuery(service, event.params.username), {
    heading: 'Profile not found',
    message: 'The account does not exist or is hidden from you.',
    back: { href: '/', label: 'To the feed' },
  });
  return { title: profile.display_name };
};
