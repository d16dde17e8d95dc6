import { infiniteQueryOptions } from '@tanstack/svelte-query';
import type { DuplicateKind } from '@vitrine/contract/duplicates';
import { refreshAfterBatch } from '#lib/batches/queries.ts';
import { byCursor, pageParams } from '#lib/paging.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Groups of one page; each shows several pictures. */
const pageLength = 10;

/** Lists groups of duplicates, newest first. */
export function duplicatesQuery({ client }: Service, kind: DuplicateKind) {
  return infiniteQueryOptions({
    queryKey: ['duplicates', kind],
    staleTime: readAtEveryVisit,
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listDuplicates', { query: { ...pageParams(pageParam, pageLength), kind }, signal }),
  });
}

/** What is done with a group. */
export type Decision =
  | { readonly keep: string; readonly remove: readonly string[] }
  | { readonly different: true };

/** Resolves a group, and reloads what was shown of its files. Rejects with CallError. */
export async function resolve(service: Service, id: string, decision: Decision): Promise<void> {
  const body = 'keep' in decision ? { keep: decision.keep, remove: [...decision.remove] } : decision;
  await service.client.call('resolveDuplicates', { params: { id }, body });
  // Other groups may have had the same files.
  await service.queries.invalidateQueries({ queryKey: ['duplicates'] });
  if ('keep' in decision) await refreshAfterBatch(service);
}
