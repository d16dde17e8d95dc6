import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { filterableSomewhere } from '../../access/field-values.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Filterable, filterCondition, readFilter, unknownField } from './filter.ts';

/**
 * The conditions on `assets a` that these filters are (choices, `filter`): one statement to look their fields up, and
 * none without filters. A field there never was, an archived one and one the caller may not read are one 400.
 */
export async function findFilters(
  db: Database,
  caller: Caller,
  texts: readonly string[],
): Promise<RawBuilder<boolean>[]> {
  if (texts.length === 0) return [];
  const filters = texts.map(readFilter);
  const { rows } = await sql<Filterable>`
    select d.id, d.code, d.type, d.mirrors_column from fields d
    where d.code = any(${filters.map(({ code }) => code)}::text[]) and ${filterableSomewhere(caller, 'asset')}`.execute(
    db,
  );
  const byCode = new Map(rows.map((field) => [field.code, field]));
  return filters.map((filter) => {
    const field = byCode.get(filter.code);
    if (field === undefined) throw unknownField(filter);
    return filterCondition(caller, field, filter);
  });
}
