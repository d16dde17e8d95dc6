import { readForPage } from '#lib/page-data.svelte.ts';
import { approvalsQuery, workflowQuery } from '#lib/reviews/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await Promise.all([readForPage(event, approvalsQuery), readForPage(event, workflowQuery)]);
  return { title: 'Reviews' };
};
