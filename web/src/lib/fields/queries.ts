import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { FieldValue, ValueMembers } from '@vitrine/contract/field-values';
import type { FieldDefinition, SubjectKind } from '@vitrine/contract/fields';
import type { Term } from '@vitrine/contract/vocabulary';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';
import { seededLabel } from '#lib/translations/seeded.ts';
import { inPageLanguage } from '#lib/translations/shown.ts';

/** The subject of values. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** Returns the label of a field in the language of the page (LANGUAGE-5, LANGUAGE-6). */
export function labelOfField({
  code,
  label,
  translations,
}: Pick<FieldDefinition, 'code' | 'label' | 'translations'>): string {
  return seededLabel('field', code, inPageLanguage(label, translations));
}

/** Returns the definition with its label and description in the language of the page. */
export function inLanguage(field: FieldDefinition): FieldDefinition {
  const description = seededLabel('fieldDescription', field.code, field.description);
  return { ...field, label: labelOfField(field), description };
}

/** Returns the term with its label, also at the end of its path, in the language of the page. */
function termInLanguage(term: Term): Term {
  const label = inPageLanguage(term.label, term.translations);
  return { ...term, label, path: [...term.path.slice(0, -1), label] };
}

/** Lists the active definitions of a kind in display order. Pages select those for a type of asset. */
export function fieldsQuery({ client }: Service, kind: SubjectKind) {
  return queryOptions({
    queryKey: ['fields', kind],
    queryFn: ({ signal }) =>
      readToEnd((turn) => client.call('listFields', { query: { ...turn, subject_kind: kind }, signal })),
    select: (fields) => fields.filter(({ status }) => status !== 'archived').map(inLanguage),
  });
}

/** Lists the values of a subject that the reader may read. */
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
      return items.map((value) => ({
        ...value,
        field_label: seededLabel('field', value.field_code, value.field_label),
      }));
    },
  });
}

/** Reads the current values, bypassing the cache. */
export function fetchValues(service: Service, subject: Subject): Promise<FieldValue[]> {
  return service.queries.fetchQuery({ ...valuesQuery(service, subject), staleTime: 0 });
}

/** Lists the changes of a value, newest first. */
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

/** Lists the terms of a vocabulary that match the typed text, best matches first. */
export function offeredTermsQuery({ client }: Service, fieldId: string, q: string, limit: number) {
  return queryOptions({
    queryKey: ['field', fieldId, 'offered', q, limit],
    queryFn: async ({ signal }) => {
      const vocabulary = await client.call('listFieldValues', {
        params: { id: fieldId },
        query: { limit, ...(q === '' ? {} : { q, match: 'substring' }) },
        signal,
      });
      return { ...vocabulary, values: vocabulary.values.map(termInLanguage) };
    },
  });
}

/** Writes a value if the stored one is still the one that was read. */
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

/** Clears a value if it is still the one that was read. */
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
