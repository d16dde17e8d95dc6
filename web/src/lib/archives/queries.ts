import { queryOptions } from '@tanstack/svelte-query';
import type { ArchiveProgress } from '@vitrine/contract/archives';
import type { Service } from '#lib/service.ts';

/** Milliseconds between two looks at an archive that is being made. */
const lookAgain = 700;

const isOver = ({ state }: ArchiveProgress) => state === 'done' || state === 'stopped';

/** Reads how far the download of an archive is; polls until it ends. */
export function archiveProgressQuery({ client }: Service, id: string) {
  return queryOptions<ArchiveProgress>({
    queryKey: ['archive', id],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => client.call('getArchiveProgress', { params: { id }, signal }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOver(data) ? false : lookAgain),
  });
}
