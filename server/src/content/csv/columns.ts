import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { readableSomewhere } from '../../access/field-values.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { CallersDefinition } from '../fields/values/rules.ts';

/** The columns of every file, before those of fields. */
export const fixedColumns = ['id', 'file_name', 'file_hash'] as const;
export type FixedColumn = (typeof fixedColumns)[number];

const isFixed = (name: string): name is FixedColumn => fixedColumns.some((fixed) => fixed === name);

/** A field as a column. */
export type FieldColumn = Omit<CallersDefinition, 'applies' | 'writable'>;

/** Returns the fields that the caller may read on some assets, in their order (CSV-2). */
export async function readColumns(db: Database, caller: Caller): Promise<FieldColumn[]> {
  const { rows } = await sql<FieldColumn>`
    select d.id, d.code, d.label, d.type, d.options, d.open_vocabulary, d.required, d.read_only, d.regexp_filter,
      d.mirrors_column, d.status, d.write_capability
    from fields d where ${readableSomewhere(caller, 'asset')} order by d.display_order, d.code`.execute(db);
  return rows;
}

/** Returns the name of the column of a field. A field may have the code of a fixed column. */
export function columnName({ code }: { code: string }): string {
  return isFixed(code) ? `field:${code}` : code;
}

/** Returns what a column of this name is: a fixed one, a field, or null. */
export function columnOf(name: string, fields: readonly FieldColumn[]): FixedColumn | FieldColumn | null {
  if (isFixed(name)) return name;
  const code = name.startsWith('field:') ? name.slice('field:'.length) : name;
  return fields.find((field) => field.code === code) ?? null;
}
