import { collectionsQuery } from '#lib/collections/queries.ts';
import { readShelf } from '#lib/collections/shelf.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { user } = (await event.parent()).visitorState;
  const { searchParams } = event.url;
  const shelf = readShelf(searchParams, user !== null);
  await readListForPage(event, (service) => collectionsQuery(service, shelf, searchParams.get('q') ?? ''));
  return { title: 'Collections' };
};
