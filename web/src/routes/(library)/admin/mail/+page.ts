import { mailQuery } from '#lib/mail/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readForPage(event, mailQuery);
  return { title: 'Mail' };
};
