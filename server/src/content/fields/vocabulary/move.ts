import { type FieldType, holdsSeveral } from '@vitrine/contract/field-types';
import type { SubjectKind } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { subjectColumn, valuesTable } from '../values/store.ts';

/** A term that another one replaces. */
export interface Merge {
  field: { id: string; type: FieldType };
  source: string;
  target: string;
}

/** Selects values of a table `v` that name the source, through the index of their kind. */
export function valuesOf({ field, source }: Merge): RawBuilder<boolean> {
  return holdsSeveral(field.type)
    ? sql`v.field_id = ${field.id} and v.value_options @> array[${source}]`
    : sql`v.field_id = ${field.id} and left(v.value_text, 100) = ${source}`;
}

/** Returns up to `limit` subjects of one kind whose values name the source, in the order of their ids. */
export async function findSubjects(
  db: Database,
  merge: Merge,
  kind: SubjectKind,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ ids: string[] | null }>`select array_agg(id order by id) as ids from (
    select v.${subjectColumn(kind)} as id from ${valuesTable(kind)} v where ${valuesOf(merge)} limit ${limit}) next`.execute(
    db,
  );
  return rows[0]?.ids ?? [];
}

/**
 * Moves the values of these subjects to the target, records each change in the history, and returns their number.
 * Triggers rewrite the search documents. The caller holds the lock of the field, which keeps others from writing values.
 */
export async function moveValues(
  tx: Tx,
  actorRef: number,
  merge: Merge,
  kind: SubjectKind,
  ids: readonly string[],
): Promise<number> {
  const { field, source, target } = merge;
  const [table, subject] = [valuesTable(kind), subjectColumn(kind)];
  const isMulti = holdsSeveral(field.type);
  const member = sql.lit(isMulti ? 'value_options' : 'value_text');
  const column = sql.ref(isMulti ? 'value_options' : 'value_text');
  // A value that names both terms keeps one.
  const moved = isMulti
    ? sql`case when ${target} = any(v.value_options) then array_remove(v.value_options, ${source})
        else array_replace(v.value_options, ${source}, ${target}) end`
    : sql`${target}::text`;
  const { numAffectedRows } = await sql`with before as (
      select v.${subject}, v.${column} as value from ${table} v
      where v.${subject} = any(${[...ids]}::uuid[]) and ${valuesOf(merge)}
      order by v.${subject} for no key update
    ), moved as (
      update ${table} v set ${column} = ${moved},
        set_at = greatest(clock_timestamp(), v.set_at + interval '1 millisecond')
      from before b where v.field_id = ${field.id} and v.${subject} = b.${subject}
      returning v.${subject}, v.${column} as value
    )
    insert into field_value_history (subject_kind, subject_id, field_id, before, after, set_by, actor_user_ref)
    select ${kind}, m.${subject}, ${field.id}::uuid, jsonb_build_object(${member}::text, b.value),
      jsonb_build_object(${member}::text, m.value), 'computed', ${actorRef}
    from moved m join before b on b.${subject} = m.${subject}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
