import { accountQuery } from '#lib/admin/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  const ref = Number(event.params.ref);
  const account = await readForPage(event, (service) => accountQuery(service, ref), {
    heading: 'Account not found',
    message: 'It does not exist, or it was deleted.',
    back: { href: '/admin/users', label: 'All users' },
  });
  return { title: `What may ${account.display_name} do, and why` };
};
