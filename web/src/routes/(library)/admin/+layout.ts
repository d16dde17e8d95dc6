import { sectionAt } from '#lib/admin/sections.ts';
import { requireCapability } from '#lib/identity/required.ts';
import type { LayoutLoad } from './$types';

/** Closes the pages of sections that the user may not open. */
export const load: LayoutLoad = async ({ parent, url }) => {
  const { visitorState } = await parent();
  const section = sectionAt(url.pathname);
  if (section !== undefined) requireCapability(visitorState.user, section.capability);
};
