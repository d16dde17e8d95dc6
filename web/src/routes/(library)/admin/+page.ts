import { redirect } from '@sveltejs/kit';
import { sectionsFor } from '#lib/admin/sections.ts';
import { requireCapability } from '#lib/identity/required.ts';
import type { PageLoad } from './$types';

/** Redirects to the first section that the user may open. */
export const load: PageLoad = async ({ parent }) => {
  const { visitorState } = await parent();
  const first = sectionsFor(visitorState.user)[0];
  if (first !== undefined) redirect(307, first.href);
  // Without a section, none of the capabilities is held.
  requireCapability(visitorState.user, 'users.read');
};
