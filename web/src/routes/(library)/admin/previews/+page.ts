import { readForPage } from '#lib/page-data.svelte.ts';
import { previewSettingsQuery } from '#lib/previews/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, previewSettingsQuery);
  return { title: 'Previews' };
};
