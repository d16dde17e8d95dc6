import { redirect } from '@sveltejs/kit';
import { redirectFor } from '@vitrine/contract/page-gate';
import { readPageState } from '#lib/identity/visitor-state.ts';
import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ parent, url, depends }) => {
  depends('vitrine:visitor-state');
  const { service } = await parent();
  const visitorState = await readPageState(service);
  const elsewhere = redirectFor(visitorState, url);
  if (elsewhere !== undefined) redirect(307, elsewhere);
  return { visitorState };
};
