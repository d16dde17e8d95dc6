import { storageQuery } from '#lib/operate/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, storageQuery);
  return { title: 'Storage' };
};
