import { sectionAt } from '#lib/admin/sections.ts';
import { requireCapability } from '#lib/identity/required.ts';
import type { LayoutLoad } from './$types';

/** Closes the pages of sections that the user may not open. */
export const load: LayoutLoad = async ({ parent, url }) => {
  const { visitorState } = await parent();
  // `/admin` itself only redirects. A page that is forgotten among the sections is closed.
  if (url.pathname === '/admin') return;
  requireCapability(visitorState.user, sectionAt(url.pathname)?.capability ?? 'system.admin');
};
