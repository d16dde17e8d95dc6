import { importsQuery } from '#lib/operate/imports.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, importsQuery);
  return { title: 'Imports' };
};
