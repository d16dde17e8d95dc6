import { sql } from 'kysely';
import type { Database } from './pool.ts';

/** A column with names, and the column of the same rows with the keys by which they are compared. */
export interface KeyedColumn {
  table: string;
  name: string;
  key: string;
}

/** Different names per transaction. */
const BATCH = 5000;

/**
 * Fills in the missing keys of a column in which names need not be unique. Its names without a key need an index.
 * Repeating it changes nothing.
 */
export async function fillKeys(
  db: Database,
  column: KeyedColumn,
  keyOf: (name: string) => string,
): Promise<void> {
  const [table, name, key] = [sql.table(column.table), sql.ref(column.name), sql.ref(column.key)];
  for (;;) {
    const { rows } = await sql<{ name: string }>`select distinct ${name} as name from ${table}
      where ${key} is null and ${name} is not null limit ${BATCH}`.execute(db);
    if (rows.length === 0) return;
    const names = rows.map((row) => row.name);
    await sql`update ${table} t set ${key} = n.key
      from unnest(${names}::text[], ${names.map(keyOf)}::text[]) as n (name, key)
      where t.${name} = n.name and t.${key} is null`.execute(db);
  }
}
