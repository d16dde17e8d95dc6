import { deletionQuery, exportQuery } from '#lib/account-data/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  // An administrator who acts as the user sees neither.
  if (user?.impersonated_by === null)
    await Promise.all([readForPage(event, exportQuery), readForPage(event, deletionQuery)]);
  return { title: 'Your data' };
};
