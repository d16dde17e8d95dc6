import { type RawBuilder, sql } from 'kysely';
import { timestampOfJson } from '../../../platform/database/pool.ts';
import { storedIn, type TypedValue } from './typed-value.ts';

/**
 * Many values column by column, as JSON: reading a row for each value costs several times as much. An array is null if it
 * has nothing but nulls.
 */
export interface ValueArrays {
  texts: (string | null)[] | null;
  nums: (number | null)[] | null;
  dates: (string | null)[] | null;
  offsets: (number | null)[] | null;
  options: (string[] | null)[] | null;
  refs: (string | null)[] | null;
}

function arrayOf(column: string): RawBuilder<unknown> {
  const values = sql.ref(`v.${column}`);
  return sql`case when count(${values}) > 0 then json_agg(${values}) end`;
}

/** Aggregates the rows of `v`, which has the columns of values, to `ValueArrays`. */
export const valueArrays = sql<ValueArrays>`${arrayOf('value_text')} as texts, ${arrayOf('value_num')} as nums,
  ${arrayOf('value_date')} as dates, ${arrayOf('value_offset')} as offsets, ${arrayOf('value_options')} as options,
  ${arrayOf('value_ref')} as refs`;

/** Returns the value of the row that was aggregated at this place. */
export function valueAt(
  { texts, nums, dates, offsets, options, refs }: ValueArrays,
  at: number,
): TypedValue | null {
  const date = dates?.[at] ?? null;
  return storedIn({
    value_text: texts?.[at] ?? null,
    value_num: nums?.[at] ?? null,
    value_date: date === null ? null : timestampOfJson(date),
    value_offset: offsets?.[at] ?? null,
    value_options: options?.[at] ?? null,
    value_ref: refs?.[at] ?? null,
  });
}
