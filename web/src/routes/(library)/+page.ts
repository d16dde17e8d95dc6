import { featuredQuery } from '#lib/featured/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import { readFeedChoice, usualChoice } from '#lib/posts/feed-choice.ts';
import { feedQuery } from '#lib/posts/queries.ts';
import type { PageLoad } from './$types';

/** The feed has the title of the library. */
export const load: PageLoad = async (event) => {
  const { service, visitorState } = await event.parent();
  const { user } = visitorState;
  // IMPORT-8: after a sign-in, the service answers the old address of a resource.
  if (user !== null && event.url.searchParams.has('r')) {
    location.replace(event.url);
    return;
  }
  const choice = readFeedChoice(event.url.searchParams, user !== null, usualChoice(user));
  // The page shows the rail when it is there, and the feed also without it.
  void service.queries.infiniteQuery({ ...featuredQuery(service), retry: false }).catch(() => undefined);
  await readListForPage(event, (service) => feedQuery(service, choice));
};
