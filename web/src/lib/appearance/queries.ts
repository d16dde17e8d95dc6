import { queryOptions } from '@tanstack/svelte-query';
import type { AdminAppearance } from '@vitrine/contract/appearance';
import type { VisitorState } from '#lib/identity/gate.ts';
import type { Appearance } from '#lib/identity/visitor-state.ts';
import type { Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';

/** Fonts, logo and the recent logos. */
export function adminAppearanceQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'appearance'],
    queryFn: ({ signal }) => client.call('getAdminAppearance', { signal }),
  });
}

/** Name and public address of the library. */
export function siteQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'site'],
    queryFn: ({ signal }) => client.call('getSite', { signal }),
  });
}

/** What visitors are given while public mode is on; counted anew each time it is shown. */
export function publicPreviewQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'public-mode', 'preview'],
    queryFn: ({ signal }) => client.call('previewPublicMode', { signal }),
    staleTime: 0,
  });
}

async function putAppearanceState({ queries }: Service, appearance: Appearance): Promise<void> {
  queries.setQueryData<VisitorState & { appearance: Appearance }>(['visitor-state'], (before) =>
    before === undefined ? undefined : { ...before, appearance },
  );
  await invalidate('vitrine:visitor-state');
}

/** Shows what the service answered to a change, on this page and on every other. */
export async function putAppearance(service: Service, answer: AdminAppearance): Promise<void> {
  service.queries.setQueryData(adminAppearanceQuery(service).queryKey, answer);
  const { logo_history: _, ...shown } = answer;
  await putAppearanceState(service, shown);
}

/** Reads anew what every page shows of the library. */
export async function refreshAppearance(service: Service): Promise<void> {
  await putAppearanceState(service, await service.client.call('getAppearance'));
  await service.queries.invalidateQueries({ queryKey: adminAppearanceQuery(service).queryKey });
}
