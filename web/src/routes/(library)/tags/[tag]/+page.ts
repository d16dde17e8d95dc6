import { readAhead, readListForPage } from '#lib/page-data.svelte.ts';
import { tagPostsQuery, tagQuery } from '#lib/tags/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { tag } = event.params;
  const { service } = await event.parent();
  // A tag that no visible post has is still a page, where the user can stop following it.
  readAhead(service, tagQuery(service, tag));
  await readListForPage(event, (service) => tagPostsQuery(service, tag));
  return { title: tag };
};
