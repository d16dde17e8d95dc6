import { redirect } from '@sveltejs/kit';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ parent }) => {
  // Visitors may open pages of assets while public mode is on, but this one needs an account.
  if ((await parent()).visitorState.user === null) redirect(307, '/sign-in?next=/assets/import');
  return { title: 'Import metadata' };
};
