import { queryOptions } from '@tanstack/svelte-query';
import type { PreviewSettings } from '@vitrine/contract/previews';
import type { Service } from '#lib/service.ts';

/** The preview ladder and how far files are rendered with it; asked again while that goes on. */
export function previewSettingsQuery({ client }: Service) {
  return queryOptions<PreviewSettings>({
    queryKey: ['admin', 'previews'],
    staleTime: 0,
    refetchInterval: (query) => (query.state.data?.rendering.state === 'running' ? 2000 : false),
    queryFn: ({ signal }) => client.call('getPreviewSettings', { signal }),
  });
}
