import { fieldTypes } from '@vitrine/contract/field-types';
import type { CardField, FieldValue, ValueChange } from '@vitrine/contract/field-values';
import type { Language } from '@vitrine/contract/languages';
import { type RawBuilder, sql } from 'kysely';
import { renderedHash, servedAssets, shownAssets } from '../../../access/assets.ts';
import type { Caller } from '../../../access/caller.ts';
import {
  appliesToAsset,
  cardFields,
  disclosedReference,
  ofType,
  ofVocabulary,
  readableFields,
} from '../../../access/field-values.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/refuse.ts';
import { rulesOf } from '../types/registry.ts';
import { appliesTo, type Subject, subjectColumn, valuesTable } from './store.ts';
import { membersOf, type ValueColumns } from './typed-value.ts';

interface ValueRow extends ValueColumns {
  field_id: string;
  field_code: string;
  field_label: string;
  type: FieldValue['type'];
  set_by: FieldValue['set_by'];
  set_at: string;
  set_by_user_ref: number | null;
  resolved_options: NonNullable<FieldValue['resolved_options']> | null;
  resolved_reference: NonNullable<FieldValue['resolved_reference']> | null;
}

/** Returns the label of `d` or `t` in a language (LANGUAGE-5); null: as the operator has written it. */
function shownLabel(language: Language | null, of: 'd' | 't'): RawBuilder<string> {
  const label = sql.ref<string>(`${of}.label`);
  if (language === null) return label;
  return sql`coalesce(${sql.ref(`${of}.translations`)} ->> ${language}, ${label})`;
}

/** Maximum number of fields in a list. */
const MOST = 500;

/** The terms of a value in its order, with labels. Deprecated terms still resolve (TERM-2). */
const resolvedOptions = (language: Language | null) => sql`case when ${ofVocabulary} then (
    select json_agg(json_build_object('value', x.value, 'label', coalesce(${shownLabel(language, 't')}, x.value),
      'status', coalesce(t.status, 'archived')) order by x.place)
    from unnest(coalesce(v.value_options, array[v.value_text])) with ordinality as x (value, place)
    left join field_terms t on t.field_id = d.id and t.value = x.value) end`;

function resolvedReference(caller: Caller): RawBuilder<unknown> {
  return sql`case when v.value_ref is not null then (
    select json_build_object('id', a.id, 'title', a.title,
      'preview_available', ${servedAssets(caller)} and f.renditions ? 'col')
    from assets a join files f on f.hash = ${renderedHash} where a.id = v.value_ref and ${shownAssets(caller)}) end`;
}

/** The mirrored column, or the value's own text (FIELD-22). */
const assetText = sql`case d.mirrors_column when 'title' then a.title when 'description' then a.description
  else v.value_text end`;

/** Values `v` of definitions `d`; for an asset, including mirrored columns. An empty column is not a value. */
function source(
  caller: Caller,
  { kind, id }: Subject,
): { columns: RawBuilder<unknown>; from: RawBuilder<unknown> } {
  const readable = sql`${readableFields(caller, kind)} and ${appliesTo(kind)}
    and ${disclosedReference(caller, sql`v.value_ref`)}`;
  const join = sql`v.${subjectColumn(kind)} = ${id} and v.field_id = d.id`;
  if (kind === 'collection') {
    return {
      columns: sql`v.value_text, v.set_by, v.set_at`,
      from: sql`fields d join ${valuesTable(kind)} v on ${join} where ${readable}`,
    };
  }
  return {
    columns: sql`${assetText} as value_text, coalesce(v.set_by, 'mirror') as set_by,
      coalesce(v.set_at, a.updated_at) as set_at`,
    from: sql`assets a join fields d on true left join ${valuesTable(kind)} v on ${join}
      where a.id = ${id} and ${shownAssets(caller)} and ${readable}
      and case when d.mirrors_column is null then v.field_id is not null else ${assetText} <> '' end`,
  };
}

/**
 * Returns the values that the caller may read, in field order, optionally of one field, with labels in a language. The caller
 * of this function checks the right to read the subject. An asset shown as a placeholder has no values.
 */
export async function showValues(
  db: Database,
  caller: Caller,
  subject: Subject,
  { fieldId = null, language = null }: { fieldId?: string | null; language?: Language | null } = {},
): Promise<FieldValue[]> {
  const { columns, from } = source(caller, subject);
  const only = fieldId === null ? sql`` : sql`and d.id = ${fieldId}`;
  const { rows } = await sql<ValueRow>`
    select d.id as field_id, d.code as field_code, ${shownLabel(language, 'd')} as field_label, d.type, ${columns},
      v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref, v.set_by_user_ref,
      ${resolvedOptions(language)} as resolved_options, ${resolvedReference(caller)} as resolved_reference
    from ${from} ${only} order by d.display_order, d.code limit ${MOST}`.execute(db);
  return rows.map(showRow);
}

function showRow(row: ValueRow): FieldValue {
  return {
    field_id: row.field_id,
    field_code: row.field_code,
    field_label: row.field_label,
    type: row.type,
    ...membersOf(row),
    set_by: row.set_by,
    set_at: row.set_at,
    set_by_user_ref: row.set_by_user_ref,
    ...(row.resolved_options === null ? {} : { resolved_options: row.resolved_options }),
    ...(row.resolved_reference === null ? {} : { resolved_reference: row.resolved_reference }),
  };
}

/**
 * Whether the caller may see the values of this subject; 404 for an unknown field. Checks the subject first, because
 * a placeholder must not reveal which fields exist.
 */
async function isShown(db: Database, caller: Caller, subject: Subject, fieldId: string): Promise<boolean> {
  const { rows } =
    subject.kind === 'asset'
      ? await sql<{ known: boolean }>`
          select exists (select from fields d where d.id = ${fieldId} and ${readableFields(caller, 'asset')}) as known
          from assets a where a.id = ${subject.id} and ${shownAssets(caller)}`.execute(db)
      : await sql<{ known: boolean }>`
          select exists (select from fields d
            where d.id = ${fieldId} and ${readableFields(caller, 'collection')}) as known`.execute(db);
  const [row] = rows;
  if (row === undefined) return false;
  if (!row.known) throw notFound();
  return true;
}

/**
 * Returns a page of a value's changes, newest first, under the rules for reading the value (VALUE-12). Omits changes that
 * name an asset the caller may not see.
 */
export async function readHistory(
  db: Database,
  caller: Caller,
  subject: Subject,
  fieldId: string,
  query: PageQuery,
): Promise<{ items: ValueChange[]; next_cursor: string | null }> {
  const page = newestFirst(query, 'h.at', 'h.id');
  if (!(await isShown(db, caller, subject, fieldId))) return { items: [], next_cursor: null };
  const asset = sql`join assets a on a.id = h.subject_id and ${shownAssets(caller)}`;
  const { rows } = await sql<ValueChange>`
    select h.id, h.before, h.after, h.set_by, h.actor_user_ref as set_by_user_ref, h.at
    from field_value_history h join fields d on d.id = h.field_id ${subject.kind === 'asset' ? asset : sql``}
    where ${readableFields(caller, subject.kind)} and ${appliesTo(subject.kind)} and h.subject_kind = ${subject.kind} and h.subject_id = ${subject.id} and h.field_id = ${fieldId}
      and ${disclosedReference(caller, sql`(h.before ->> 'value_ref')::uuid`)}
      and ${disclosedReference(caller, sql`(h.after ->> 'value_ref')::uuid`)}
      and ${page.after} ${page.order}`.execute(db);
  const { rows: items, next } = page.cut(rows, ({ at, id }) => ({ at, id }));
  return { items, next_cursor: next };
}

/** The limits of a card. */
const MOST_FIELDS = 6;
const MOST_CHARACTERS = 200;

/** A value as text, or null when empty. */
function valueText(caller: Caller): RawBuilder<string | null> {
  // Each text once, because several types share the longest.
  const types = Map.groupBy(fieldTypes, (type) => rulesOf[type].words);
  const cases = [...types].map(([words, names]) => sql`when ${ofType(names)} then ${words(caller)}`);
  return sql`case ${sql.join(cases, sql` `)} end`;
}

/**
 * The values on the card of `assets a` as JSON, or null (VALUE-18). It is part of the statement that reads the asset,
 * so that cards need no further one. `offset 0` keeps PostgreSQL from planning the subquery twice. A library whose
 * cards show no field never searches for values.
 */
export function cardColumn(caller: Caller): RawBuilder<CardField[] | null> {
  return sql`case when (select exists (select from fields d where ${cardFields})) then (select json_agg(json_build_object('code', c.code, 'label', c.label, 'value', c.value)
      order by c.display_order, c.code)
    from (select d.code, d.label, d.display_order, left(btrim(w.words), ${MOST_CHARACTERS}) as value
      from fields d join asset_field_values v on v.field_id = d.id and v.asset_id = a.id,
        lateral (select ${valueText(caller)} as words offset 0) w
      where ${cardFields} and ${appliesToAsset} and btrim(w.words) <> ''
      order by d.display_order, d.code limit ${MOST_FIELDS}) c) end`;
}
