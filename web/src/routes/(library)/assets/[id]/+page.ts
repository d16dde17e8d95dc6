import { titleOf } from '#lib/assets/labels.ts';
import { assetQuery } from '#lib/assets/queries.ts';
import { fieldsQuery, valuesQuery } from '#lib/fields/queries.ts';
import { readAhead, readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const { id } = event.params;
  const { service, visitorState } = await event.parent();
  readAhead(service, valuesQuery(service, { kind: 'asset', id }));
  readAhead(service, fieldsQuery(service, 'asset'));
  const asset = await readForPage(event, (service) => assetQuery(service, id), {
    heading: 'Asset not found',
    message: 'It does not exist, it was deleted, or it is not shared with you.',
    back:
      visitorState.user === null
        ? { href: '/', label: 'To the feed' }
        : { href: '/assets', label: 'Your assets' },
  });
  return { title: titleOf(asset) };
};
