import { readListForPage } from '#lib/page-data.svelte.ts';
import { queueQuery } from '#lib/requests/queries.ts';
import { readQueue, readState } from '#lib/requests/queue.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  const { searchParams } = event.url;
  await readListForPage(event, (service) =>
    queueQuery(service, readQueue(searchParams, user), readState(searchParams)),
  );
  return { title: 'Requests' };
};
