import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import { CallError } from '@vitrine/contract/client';
import type { FieldDefinition, FieldUpdate } from '@vitrine/contract/fields';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import { inLanguage } from '#lib/fields/queries.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import type { Flag } from './flags.ts';

/** Lists all definitions in display order, including archived ones, with labels in the language of the page. */
export function definitionsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['fields', 'every'],
    queryFn: ({ signal }) =>
      readToEnd((turn) => client.call('listFields', { query: { ...turn, status: 'any' }, signal })),
    select: (fields) => fields.map(inLanguage),
  });
}

/** Reads one definition, with the part of its vocabulary that it contains. */
export function definitionQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: ['field', id],
    queryFn: ({ signal }) => client.call('getField', { params: { id }, signal }),
  });
}

export interface TermFilter {
  readonly q: string;
  readonly status: TermStatus | 'any';
  readonly limit: number;
}

/** Lists matching terms of a vocabulary, best matches first. */
export function termsQuery({ client }: Service, id: string, { q, status, limit }: TermFilter) {
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

/** Lists the team defaults. */
export function overridesQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['field', id, 'overrides'],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listDefaultOverrides', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** Stores a definition as returned by the service, and invalidates lists, forms and offered terms. */
export function putDefinition({ queries }: Service, field: FieldDefinition): void {
  queries.setQueryData<FieldDefinition>(['field', field.id], field);
  void queries.invalidateQueries({ queryKey: ['fields'] });
}

/** Reloads a definition and everything that depends on it. */
export async function refreshDefinition({ queries }: Service, id: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['field', id] }),
    queries.invalidateQueries({ queryKey: ['fields'] }),
  ]);
}

/** Turns a flag on or off. The request contains nothing else, so it cannot overwrite other changes. */
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

/** Changes a definition if it has not changed since it was last read; reports a conflict otherwise. */
export async function changeDefinition(
  service: Service,
  field: FieldDefinition,
  body: FieldUpdate,
): Promise<FieldDefinition> {
  // Another form of the page may have just changed it.
  const last = service.queries.getQueryData(definitionQuery(service, field.id).queryKey) ?? field;
  try {
    const fresh = await service.client.call('updateField', {
      params: { id: field.id },
      body: { ...body, if_unchanged_since: last.updated_at },
    });
    putDefinition(service, fresh);
    return fresh;
  } catch (error) {
    if (error instanceof CallError && error.code === 'changed') {
      await refreshDefinition(service, field.id);
      const problem = phrase('the field has changed; save again to overwrite it with yours');
      throw new CallError(409, problem);
    }
    throw error;
  }
}
