import { readJobState } from '#lib/operate/job-words.ts';
import { jobCountsQuery, jobsQuery } from '#lib/operate/queries.ts';
import { readForPage, readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await Promise.all([
    readListForPage(event, (service) => jobsQuery(service, readJobState(event.url.searchParams))),
    readForPage(event, jobCountsQuery),
  ]);
  return { title: 'Jobs' };
};
