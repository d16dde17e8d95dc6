import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { FieldValue, ValueMembers } from '@vitrine/contract/field-values';
import type { SubjectKind } from '@vitrine/contract/fields';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** What values are of. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** Definitions in use for all of a kind, in display order; which are for assets of a type, each page picks. */
export function fieldsQuery({ client }: Service, kind: SubjectKind) {
  return queryOptions({
    queryKey: ['fields', kind],
    queryFn: ({ signal }) =>
      readToEnd((turn) => client.call('listFields', { query: { ...turn, subject_kind: kind }, signal })),
    select: (fields) => fields.filter(({ status }) => status !== 'archived'),
  });
}

/** The values of a subject that the reader may read. */
export function valuesQuery({ client }: Service, { kind, id }: Subject) {
  return queryOptions({
    queryKey: ['field-values', kind, id],
    staleTime: 5_000,
    queryFn: async ({ signal }) => {
      const asked = { params: { id }, signal };
      const { items } =
        kind === 'asset'
          ? await client.call('listAssetFieldValues', asked)
          : await client.call('listCollectionFieldValues', asked);
      return items;
    },
  });
}

/** Values as they are now, whatever was read before. */
export function fetchValues(service: Service, subject: Subject): Promise<FieldValue[]> {
  return service.queries.fetchQuery({ ...valuesQuery(service, subject), staleTime: 0 });
}

/** How a value came to be what it is, newest first. */
export function historyQuery({ client }: Service, { kind, id }: Subject, fieldId: string) {
  return infiniteQueryOptions({
    queryKey: ['field-history', kind, id, fieldId],
    staleTime: 0,
    ...byCursor,
    queryFn: ({ pageParam, signal }) => {
      const asked = { params: { id, field_id: fieldId }, query: pageParams(pageParam), signal };
      return kind === 'asset'
        ? client.call('listAssetFieldHistory', asked)
        : client.call('listCollectionFieldHistory', asked);
    },
  });
}

/** Terms of a vocabulary that fit what was typed, the best first. */
export function offeredTermsQuery({ client }: Service, fieldId: string, q: string, limit: number) {
  return queryOptions({
    queryKey: ['field', fieldId, 'offered', q, limit],
    queryFn: ({ signal }) =>
      client.call('listFieldValues', {
        params: { id: fieldId },
        query: { limit, ...(q === '' ? {} : { q, match: 'substring' }) },
        signal,
      }),
  });
}

/** Writes a value over the one that was read, and only over that. */
export function writeValue(
  { client }: Service,
  { kind, id }: Subject,
  fieldId: string,
  members: ValueMembers,
  before: FieldValue | undefined,
): Promise<FieldValue> {
  const precondition = before === undefined ? { if_absent: true } : { if_unchanged_since: before.set_at };
  const asked = { params: { id, field_id: fieldId }, body: { ...members, ...precondition } };
  return kind === 'asset'
    ? client.call('setAssetFieldValue', asked)
    : client.call('setCollectionFieldValue', asked);
}

/** Takes away the value that was read, and only that. */
export async function clearValue(
  { client }: Service,
  { kind, id }: Subject,
  fieldId: string,
  before: FieldValue | undefined,
): Promise<void> {
  if (before === undefined) return;
  const asked = { params: { id, field_id: fieldId }, body: { if_unchanged_since: before.set_at } };
  await (kind === 'asset'
    ? client.call('clearAssetFieldValue', asked)
    : client.call('clearCollectionFieldValue', asked));
}
