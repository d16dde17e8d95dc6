import { readAuditFilter } from '#lib/admin/audit-filter.ts';
import { auditQuery } from '#lib/admin/queries.ts';
import { readListForPage } from '#lib/page-data.svelte.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async (event) => {
  await readListForPage(event, (service) => auditQuery(service, readAuditFilter(event.url.searchParams)));
  return { title: 'Audit' };
};
