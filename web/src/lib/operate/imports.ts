import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { ImportRun, ImportState, ImportStep } from '@vitrine/contract/imports';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** How often a run that is under way is read again. */
const REREAD_MS = 2000;

const isRunning = (run: Pick<ImportRun, 'state'> | undefined) => run?.state === 'running';

/** Lists the imports, newest first. */
export function importsQuery({ client }: Service) {
  return infiniteQueryOptions({
    queryKey: ['admin', 'imports'],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => client.call('listImports', { query: pageParams(pageParam), signal }),
    refetchInterval: ({ state }) => (isRunning(state.data?.pages[0]?.items[0]) ? REREAD_MS : false),
  });
}

/** Reads an import with its report; polls while it runs. */
export function importQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: ['admin', 'import', id],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('getImport', { params: { id }, signal }),
    refetchInterval: ({ state }) => (isRunning(state.data) ? REREAD_MS : false),
  });
}

export const stateWords: Readonly<Record<ImportState, string>> = {
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

export const stepWords: Readonly<Record<ImportStep, string>> = {
  definitions: 'Types, states and fields',
  people: 'Groups and accounts',
  resources: 'Resources and their files',
  others: 'Comments, collections, requests and links',
  finished: 'Finished',
};

const systemNames: Readonly<Record<string, string>> = { resourcespace: 'ResourceSpace', immich: 'Immich' };

/** Returns the name of an earlier system; operators may have given it one of their own. */
export function systemName(system: string): string {
  return systemNames[system] ?? system;
}
