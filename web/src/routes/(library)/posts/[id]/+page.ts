import { pageSubject, readForPage } from '#lib/page-data.svelte.ts';
import { titleOf } from '#lib/posts/cover.ts';
import { missingPost, postInFeed, postQuery } from '#lib/posts/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  event.depends(pageSubject);
  const { id } = event.params;
  const { queries } = (await event.parent()).service;
  const isAsked = queries.getQueryState(['post', id]) !== undefined;
  // A post that is opened from a feed appears at once; its page then reads it.
  const inFeed = isAsked ? undefined : postInFeed(queries, id);
  const post = inFeed ?? (await readForPage(event, (service) => postQuery(service, id), missingPost));
  return { title: titleOf(post) };
};
