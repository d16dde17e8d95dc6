import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Library } from './library.ts';

/** Returns every row of every table as text, in a stable order, to search for what must not be stored. */
export async function databaseText({ deps: { db } }: Library): Promise<string> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
    order by 1, 2`.execute(db);
  expect(tables.length).toBeGreaterThan(20);
  const texts: string[] = [];
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ text: string | null }>`
      select string_agg(t::text, e'\n' order by t::text) as text
      from ${sql.table(`${schema}.${name}`)} t`.execute(db);
    texts.push(`${name} ${rows[0]?.text ?? ''}`);
  }
  return texts.join('\n');
}
