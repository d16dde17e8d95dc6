import { readForPage } from '#lib/page-data.svelte.ts';
import { providerQuery } from '#lib/providers/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { name } = event.params;
  const provider = await readForPage(event, (service) => providerQuery(service, name), {
    heading: 'There is no such provider',
    message: 'It may have been removed.',
    back: { href: '/admin/providers', label: 'To the providers' },
  });
  return { name, title: provider.label };
};
