import { notificationsQuery } from '#lib/notifications/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) =>
    notificationsQuery(service, event.url.searchParams.get('show') === 'unread'),
  );
  return { title: 'Notifications' };
};
