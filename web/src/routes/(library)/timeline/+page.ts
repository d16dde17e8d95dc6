import { ownerOfTimeline } from '#lib/browsing/owner.ts';
import { timelineQuery } from '#lib/browsing/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  await readForPage(event, (service) => timelineQuery(service, ownerOfTimeline(event.url, user)));
  return { title: 'Timeline' };
};
