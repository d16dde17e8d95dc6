import { queryOptions } from '@tanstack/svelte-query';
import type { DownloadPresets } from '@vitrine/contract/downloads';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Reads the forms in which the caller may download files. */
export function downloadsQuery({ client }: Service) {
  return queryOptions<DownloadPresets>({
    queryKey: ['downloads'],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('listDownloads', { signal }),
  });
}

/** Reads all download presets, for administrators. */
export function downloadSettingsQuery({ client }: Service) {
  return queryOptions<DownloadPresets>({
    queryKey: ['admin', 'downloads'],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('getDownloadSettings', { signal }),
  });
}
