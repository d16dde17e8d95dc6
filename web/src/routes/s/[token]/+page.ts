import { openVisit } from '#lib/links/visit.svelte.ts';
import { refusePage } from '#lib/page-problems.ts';
import type { PageLoad } from './$types';

/** Opens the link. A locked link is still a page, which asks for the password. */
export const load: PageLoad = async ({ params, parent, depends }) => {
  depends('vitrine:link');
  const { client } = (await parent()).service;
  const visit = openVisit(client, params.token);
  await visit.start();
  if (visit.failure !== undefined && visit.status !== 'locked') {
    refusePage(visit.failure, {
      heading: 'This link is no longer available',
      message:
        'It may have expired or been withdrawn, or the address is incomplete. Ask the person who sent it to you for a new one.',
    });
  }
  return { visit, title: visit.view?.title.trim() || 'Shared with you' };
};
