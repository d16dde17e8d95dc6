import { queryOptions } from '@tanstack/svelte-query';
import type { PreviewSettings } from '@vitrine/contract/previews';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Reads the preview ladder and the progress of rendering; polls while it runs. */
export function previewSettingsQuery({ client }: Service) {
  return queryOptions<PreviewSettings>({
    queryKey: ['admin', 'previews'],
    staleTime: readAtEveryVisit,
    refetchInterval: (query) => (query.state.data?.rendering.state === 'running' ? 2000 : false),
    queryFn: ({ signal }) => client.call('getPreviewSettings', { signal }),
  });
}
