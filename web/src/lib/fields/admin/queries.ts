import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { CallError } from '@vitrine/contract/client';
import type { FieldDefinition, FieldUpdate } from '@vitrine/contract/fields';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import type { Flag } from './flags.ts';

/** Every definition, archived ones among them, in display order. */
export function definitionsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['fields', 'every'],
    queryFn: ({ signal }) =>
      readToEnd((turn) => client.call('listFields', { query: { ...turn, status: 'any' }, signal })),
  });
}

/** One definition, with as much of its vocabulary as it carries. */
export function definitionQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: ['field', id],
    queryFn: ({ signal }) => client.call('getField', { params: { id }, signal }),
  });
}

export interface TermQuestion {
  readonly q: string;
  readonly status: TermStatus | 'any';
  readonly limit: number;
}

/** Terms of a vocabulary that fit, the best first. */
export function termsQuery({ client }: Service, id: string, { q, status, limit }: TermQuestion) {
  return queryOptions({
    queryKey: ['field', id, 'terms', q, status, limit],
    queryFn: ({ signal }) =>
      client.call('listFieldValues', {
        params: { id },
        query: { status, limit, ...(q === '' ? {} : { q }) },
        signal,
      }),
  });
}

/** Defaults of single teams. */
export function overridesQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['field', id, 'overrides'],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listDefaultOverrides', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** The types an asset may be of. */
export function assetTypesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['asset-types'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => client.call('listAssetTypes', { signal }),
  });
}

/** Shows what the service said of a definition last; lists, forms and offered terms are read anew. */
export function putDefinition({ queries }: Service, field: FieldDefinition): void {
  queries.setQueryData<FieldDefinition>(['field', field.id], field);
  void queries.invalidateQueries({ queryKey: ['fields'] });
}

/** Reads a definition anew, with everything that was asked about it. */
export async function refreshDefinition({ queries }: Service, id: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['field', id] }),
    queries.invalidateQueries({ queryKey: ['fields'] }),
  ]);
}

/** Turns a flag on or off: it says all there is, so nothing of anybody else is overwritten. */
export async function setFlag(
  service: Service,
  id: string,
  flag: Flag['name'],
  on: boolean,
): Promise<FieldDefinition> {
  const fresh = await service.client.call('updateField', { params: { id }, body: { [flag]: on } });
  putDefinition(service, fresh);
  return fresh;
}

/** Changes a definition as it was read; who changed it meanwhile is not overwritten unseen. */
export async function changeDefinition(
  service: Service,
  field: FieldDefinition,
  body: FieldUpdate,
): Promise<FieldDefinition> {
  try {
    const fresh = await service.client.call('updateField', {
      params: { id: field.id },
      body: { ...body, if_unchanged_since: field.updated_at },
    });
    putDefinition(service, fresh);
    return fresh;
  } catch (error) {
    if (error instanceof CallError && error.status === 409) {
      await refreshDefinition(service, field.id);
      throw new CallError(409, 'the field was changed by somebody else; save again to go on with yours');
    }
    throw error;
  }
}
