import { type RawBuilder, sql } from 'kysely';

/** A new value of a column of `assets`, unless a person has edited the property here since the import (IMPORT-2). */
export function unlessEdited(
  id: string,
  property: 'title' | 'description' | 'sensitivity' | 'status' | 'asset_type',
  value: unknown,
): RawBuilder<unknown> {
  const column = sql.ref(property);
  return sql`${column} = case when exists (select from asset_changes c
    where c.asset_id = ${id} and ${property} = any(c.properties)) then ${column} else ${value} end`;
}
