import type { SetBy } from '@vitrine/contract/field-values';
import { type RawBuilder, sql } from 'kysely';
import { appliesToAsset, type SubjectKind } from '../../../access/field-values.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { columnsOf, isSame, membersOf, storedIn, type TypedValue, type ValueColumns } from './typed-value.ts';

/** The owner of a value. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** The table of values of this kind of subject. */
export function valuesTable(kind: SubjectKind): RawBuilder<unknown> {
  return sql.table(kind === 'asset' ? 'asset_field_values' : 'collection_field_values');
}

/** The column that names the subject. */
export function subjectColumn(kind: SubjectKind): RawBuilder<unknown> {
  return sql.ref(kind === 'asset' ? 'asset_id' : 'collection_id');
}

/** For `from`: definitions `d`, with the asset `a` whose type and team the rules depend on. */
export function definitionsFor(subject: Subject): RawBuilder<unknown> {
  return subject.kind === 'asset' ? sql`fields d join assets a on a.id = ${subject.id}` : sql`fields d`;
}

/** The time of a value `v` on the clock with which it was written (VALUE-26). */
export const localTime = sql<string>`(v.value_date + coalesce(v.value_offset, 0) * interval '1 minute')`;

/** Whether the field applies to the subject: an asset of its types, or any collection (FIELD-6). */
export function appliesTo(kind: SubjectKind): RawBuilder<boolean> {
  return kind === 'asset' ? appliesToAsset : sql`true`;
}

/** A stored value, read under its subject's lock. */
export interface Stored {
  value: TypedValue;
  setBy: SetBy;
  setAt: string;
}

/** The current value, and the time of the last change or removal. */
export interface CurrentValue {
  stored: Stored | null;
  changedAt: string | null;
  /** Who removed the last value; null when a value exists or never existed. */
  clearedBy: SetBy | null;
}

interface StoredRow extends ValueColumns {
  set_by: SetBy | null;
  set_at: string | null;
  changed_at: string | null;
  changed_by: SetBy | null;
}

/** Reads the current value of a field and its last change. */
export async function readCurrentValue(tx: Tx, subject: Subject, fieldId: string): Promise<CurrentValue> {
  const { rows } = await sql<StoredRow>`
    select v.value_text, v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref, v.set_by, v.set_at,
      h.at as changed_at, h.set_by as changed_by
    from (select) one
    left join ${valuesTable(subject.kind)} v on v.${subjectColumn(subject.kind)} = ${subject.id} and v.field_id = ${fieldId}
    left join lateral (select at, set_by from field_value_history
      where subject_id = ${subject.id} and field_id = ${fieldId} order by at desc, id desc limit 1) h on true`.execute(
    tx,
  );
  const [row] = rows;
  const value = row === undefined ? null : storedIn(row);
  if (row === undefined || value === null || row.set_by === null || row.set_at === null) {
    return { stored: null, changedAt: row?.changed_at ?? null, clearedBy: row?.changed_by ?? null };
  }
  return { stored: { value, setBy: row.set_by, setAt: row.set_at }, changedAt: row.set_at, clearedBy: null };
}

/** A change to one value, under its subject's lock. */
export interface Change {
  subject: Subject;
  fieldId: string;
  before: Stored | null;
  /** Null removes the value. */
  after: TypedValue | null;
  setBy: SetBy;
  userRef: number | null;
}

const PEOPLE: readonly SetBy[] = ['manual', 'api'];

/** Whether a person wrote the value, by hand or with a script. */
export function isByPeople(setBy: SetBy): boolean {
  return PEOPLE.includes(setBy);
}

/** Writes or removes a value and records the change. A later change always has a later time. */
export async function storeValue(tx: Tx, change: Change): Promise<void> {
  const { subject, fieldId, before, after, setBy, userRef } = change;
  const [table, key] = [valuesTable(subject.kind), subjectColumn(subject.kind)];
  const at =
    before === null
      ? sql`clock_timestamp()`
      : sql`greatest(clock_timestamp(), ${before.setAt}::timestamptz + interval '1 millisecond')`;
  // The first value that the system writes is not recorded, because its row contains the same information.
  const isRecorded = !isSame(before?.value ?? null, after) && (before !== null || isByPeople(setBy));
  const jsonOf = (value: TypedValue | null) =>
    value === null ? null : JSON.stringify(membersOf(columnsOf(value)));
  const history = sql`insert into field_value_history
      (subject_kind, subject_id, field_id, before, after, set_by, actor_user_ref, at)
    select ${subject.kind}, ${subject.id}, ${fieldId}, ${jsonOf(before?.value ?? null)}::jsonb, ${jsonOf(after)}::jsonb,
      ${setBy}, ${userRef}, w.at from written w where ${isRecorded}`;
  if (after === null) {
    await sql`with written as (
        delete from ${table} where ${key} = ${subject.id} and field_id = ${fieldId} returning ${at} as at)
      ${history}`.execute(tx);
    return;
  }
  const { value_text, value_num, value_date, value_offset, value_options, value_ref } = columnsOf(after);
  await sql`with written as (
      insert into ${table} (${key}, field_id, value_text, value_num, value_date, value_offset, value_options, value_ref, set_by,
        set_at, set_by_user_ref)
      values (${subject.id}, ${fieldId}, ${value_text}, ${value_num}, ${value_date}, ${value_offset}, ${value_options}, ${value_ref},
        ${setBy}, ${at}, ${userRef})
      on conflict (${key}, field_id) do update set value_text = excluded.value_text, value_num = excluded.value_num,
        value_date = excluded.value_date, value_offset = excluded.value_offset, value_options = excluded.value_options, value_ref = excluded.value_ref,
        set_by = excluded.set_by, set_at = excluded.set_at, set_by_user_ref = excluded.set_by_user_ref
      returning set_at as at)
    ${history}`.execute(tx);
}
