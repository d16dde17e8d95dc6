import { collectionQuery } from '#lib/collections/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const collection = await readForPage(event, (service) => collectionQuery(service, event.params.id), {
    heading: 'Collection not found',
    message: 'It does not exist, it has ended, or it is not shared with you.',
    back: { href: '/collections', label: 'To the collections' },
  });
  return { title: collection.name };
};
