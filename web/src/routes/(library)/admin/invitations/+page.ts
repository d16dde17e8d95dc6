import { invitationsQuery } from '#lib/invitations/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, invitationsQuery);
  return { title: 'Invitations' };
};
