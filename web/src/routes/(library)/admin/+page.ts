import { redirect } from '@sveltejs/kit';
import { sectionsFor } from '../../../lib/admin/sections.ts';
import type { PageLoad } from './$types';

/** Leads to the first section the person may open. */
export const load: PageLoad = async ({ parent }) => {
  const { standing } = await parent();
  const first = sectionsFor(standing.user)[0];
  if (first !== undefined) redirect(307, first.href);
};
