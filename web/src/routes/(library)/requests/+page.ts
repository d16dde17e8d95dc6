import { holds } from '#lib/identity/allowance.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import { queueQuery } from '#lib/requests/queries.ts';
import { readQueue, readState } from '#lib/requests/queue.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  const { searchParams } = event.url;
  await readListForPage(event, (service) =>
    queueQuery(service, {
      queue: readQueue(searchParams, user),
      state: readState(searchParams),
      decidesAll: holds(user, 'share.grant'),
    }),
  );
  return { title: 'Requests' };
};
