import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { JobState } from '@vitrine/contract/jobs';
import type { AnswerOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

type Storage = AnswerOf<Operations['getStorage']>;

/** Reads what the library holds; polls while a count is running. */
export function storageQuery({ client }: Service) {
  return queryOptions<Storage>({
    queryKey: ['admin', 'storage'],
    staleTime: readAtEveryVisit,
    refetchInterval: (query) => (query.state.data?.counting === true ? 2000 : false),
    queryFn: ({ signal }) => client.call('getStorage', { signal }),
  });
}

/** Lists unfinished jobs, newest first. Always reloaded, because readers want the current state. */
export function jobsQuery({ client }: Service, state: JobState | undefined) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'jobs', state ?? ''],
    ...byCursor,
    staleTime: readAtEveryVisit,
    gcTime: readAtEveryVisit,
    // Polls to show progress.
    refetchInterval: 2000,
    queryFn: ({ pageParam, signal }) =>
      client.call('listJobs', {
        query: { ...pageParams(pageParam), ...(state === undefined ? {} : { state }) },
        signal,
      }),
  });
}

/** Counts jobs by name and state. */
export function jobCountsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'job-counts'],
    staleTime: readAtEveryVisit,
    refetchInterval: 5000,
    queryFn: ({ signal }) => client.call('countJobs', { signal }),
  });
}

/** Reloads the jobs and their counts after an action. */
export async function refreshJobs({ queries }: Service): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['admin', 'jobs'] }),
    queries.invalidateQueries({ queryKey: ['admin', 'job-counts'] }),
  ]);
}

/** Runs the checks of the doctor; repeated at every visit. */
export function doctorQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'doctor'],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => client.call('getDoctor', { signal }),
  });
}
