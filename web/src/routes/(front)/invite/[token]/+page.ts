import { signInProvidersQuery } from '#lib/account/queries.ts';
import { readForPage } from '#lib/page-data.svelte.ts';
import { refusePage } from '#lib/page-problems.ts';
import type { PageLoad } from './$types';

/** Reads what the invited person is told, and how they can sign in. */
export const load: PageLoad = async (event) => {
  const { params } = event;
  const { client } = (await event.parent()).service;
  const providers = await readForPage(event, signInProvidersQuery);
  const invitation = await client
    .call('getInvitation', { params: { token: params.token } })
    .catch((failure: unknown) =>
      refusePage(failure, {
        heading: 'This invitation is no longer valid',
        message:
          'It may have been used, withdrawn or expired, or the address is incomplete. Ask the person who invited you for a new one.',
        back: { href: '/sign-in', label: 'To the sign-in page' },
      }),
    );
  return { invitation, providers, token: params.token, title: `Join ${invitation.site_name}` };
};
