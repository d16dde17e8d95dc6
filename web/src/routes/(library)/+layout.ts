import { redirect } from '@sveltejs/kit';
import { redirectFor } from '@vitrine/contract/page-gate';
import { ownStorage } from '#lib/app/account.ts';
import { previewsQuery } from '#lib/assets/queries.ts';
import { readPageState } from '#lib/identity/visitor-state.ts';
import { readAhead } from '#lib/page-data.svelte.ts';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent, url, depends }) => {
  depends('vitrine:visitor-state');
  const { service } = await parent();
  const visitorState = await readPageState(service);
  if (visitorState.user !== null) await ownStorage(visitorState.user);
  // Links in mails lead to a comment, also after signing in first.
  const hash = location.pathname === url.pathname ? location.hash : '';
  const elsewhere = redirectFor(visitorState, url, hash);
  if (elsewhere !== undefined) redirect(307, elsewhere);
  // Every page with pictures needs their sizes.
  readAhead(service, previewsQuery(service));
  return { visitorState };
};
