import { definitionQuery, definitionsQuery } from '#lib/fields/admin/queries.ts';
import { labelOfField } from '#lib/fields/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const [field] = await Promise.all([
    readForPage(event, (service) => definitionQuery(service, event.params.id), {
      heading: 'Field not found',
      message: 'It does not exist, or it was deleted.',
      back: { href: '/admin/fields', label: 'All fields' },
    }),
    readForPage(event, definitionsQuery),
  ]);
  return { title: labelOfField(field) };
};
