import { readListForPage } from '#lib/page-data.svelte.ts';
import { readDraftsChoice, usualChoice } from '#lib/posts/feed-choice.ts';
import { feedQuery } from '#lib/posts/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  const choice = readDraftsChoice(event.url.searchParams, usualChoice(user));
  await readListForPage(event, (service) => feedQuery(service, choice));
  return { title: 'Drafts' };
};
