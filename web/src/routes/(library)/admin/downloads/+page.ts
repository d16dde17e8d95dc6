import { downloadSettingsQuery } from '#lib/downloads/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, downloadSettingsQuery);
  return { title: 'Downloads' };
};
