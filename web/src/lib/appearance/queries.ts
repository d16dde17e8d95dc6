import { queryOptions } from '@tanstack/svelte-query';
import type { AdminAppearance } from '@vitrine/contract/appearance';
import type { VisitorState } from '@vitrine/contract/page-gate';
import type { Appearance } from '#lib/identity/page-state.ts';
import type { Service } from '#lib/service.ts';
import { invalidate } from '$app/navigation';

/** Reads fonts, logo and recent logos. */
export function adminAppearanceQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'appearance'],
    queryFn: ({ signal }) => client.call('getAdminAppearance', { signal }),
  });
}

/** Reads the name and public address of the library. */
export function siteQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'site'],
    queryFn: ({ signal }) => client.call('getSite', { signal }),
  });
}

/** Reads what visitors see while public mode is on; counted again each time it is shown. */
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

/** Updates this page and all others after a change. */
export async function putAppearance(service: Service, answer: AdminAppearance): Promise<void> {
  service.queries.setQueryData(adminAppearanceQuery(service).queryKey, answer);
  const { logo_history: _, ...shown } = answer;
  await putAppearanceState(service, shown);
}

/** Reloads the presentation of the library on every page. */
export async function refreshAppearance(service: Service): Promise<void> {
  await putAppearanceState(service, await service.client.call('getAppearance'));
  await service.queries.invalidateQueries({ queryKey: adminAppearanceQuery(service).queryKey });
}
