import { redirect } from '@sveltejs/kit';
import { duplicatesQuery } from '#lib/duplicates/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  // Visitors may open pages of assets while public mode is on, but this one needs an account.
  if ((await event.parent()).visitorState.user === null) redirect(307, '/sign-in?next=/assets/duplicates');
  const kind = event.url.searchParams.get('kind') === 'similar' ? ('similar' as const) : ('exact' as const);
  await readListForPage(event, (service) => duplicatesQuery(service, kind));
  return { title: 'Duplicates', kind };
};
