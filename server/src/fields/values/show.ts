import type { FieldValue } from '@vitrine/contract/field-values';
import { type RawBuilder, sql } from 'kysely';
import { servedAssets, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { disclosedReference, readableFields } from '../../access/field-values.ts';
import type { Database } from '../../platform/database/pool.ts';
import { appliesTo, type Subject, subjectColumn, valuesTable } from './subject.ts';
import { membersOf, type ValueColumns } from './typed-value.ts';

interface Row extends ValueColumns {
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

/** The fields a list may have at most; nobody defines more (spec part 8 names no bound). */
const MOST = 500;

/** The terms of a value in its order, with their labels; deprecated ones resolve still (spec 2.7 rule 1). */
const resolvedOptions = sql`case when d.type in ('select', 'multi_select', 'tree') then (
    select json_agg(json_build_object('value', x.value, 'label', coalesce(t.label, x.value),
      'status', coalesce(t.status, 'archived')) order by x.place)
    from unnest(coalesce(v.value_options, array[v.value_text])) with ordinality as x (value, place)
    left join field_terms t on t.field_id = d.id and t.value = x.value) end`;

function resolvedReference(caller: Caller): RawBuilder<unknown> {
  return sql`case when v.value_ref is not null then (
    select json_build_object('id', a.id, 'title', a.title,
      'preview_available', ${servedAssets(caller)} and f.renditions ? 'col')
    from assets a join files f on f.hash = a.file_hash where a.id = v.value_ref and ${shownAssets(caller)}) end`;
}

/** The text of a mirrored column, else the value's own (spec 2.7 rule 10). */
const assetText = sql`case d.mirrors_column when 'title' then a.title when 'description' then a.description
  else v.value_text end`;

/** Values `v` of definitions `d`, an asset's with its mirrored columns; an empty column is no value. */
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
 * The values of a subject that the caller reads, in the order of the fields; of one field when it is named. The
 * read rule of the subject itself is the caller's to keep; an asset whose columns are withheld has none to show.
 */
export async function showValues(
  db: Database,
  caller: Caller,
  subject: Subject,
  fieldId: string | null = null,
): Promise<FieldValue[]> {
  const { columns, from } = source(caller, subject);
  const only = fieldId === null ? sql`` : sql`and d.id = ${fieldId}`;
  const { rows } = await sql<Row>`
    select d.id as field_id, d.code as field_code, d.label as field_label, d.type, ${columns},
      v.value_num, v.value_date, v.value_options, v.value_ref, v.set_by_user_ref,
      ${resolvedOptions} as resolved_options, ${resolvedReference(caller)} as resolved_reference
    from ${from} ${only} order by d.display_order, d.code limit ${MOST}`.execute(db);
  return rows.map(showRow);
}

function showRow(row: Row): FieldValue {
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
