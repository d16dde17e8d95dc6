import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runMigrations } from 'graphile-worker';
import type pg from 'pg';

const directory = join(import.meta.dirname, '../../../migrations');

/** The advisory lock of migrations: one process per database migrates at a time. */
const MIGRATION_LOCK = 7_431_001;

/** The migrations of this version, in order: `0001_name.sql` and so on. */
function migrations(): { name: string; text: string }[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
}

/** Returns the names of the migrations of this version, in order. */
export function knownMigrations(): string[] {
  return migrations().map(({ name }) => name);
}

/**
 * Migrates the database to this version: forward only, each file in one transaction, under an advisory lock, so that
 * any number of processes may start concurrently. Throws when the database is newer than this version.
 */
export async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    // Waiting for another process and a migration itself may both take long.
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(
      'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    const applied = new Set(rows.map((row) => row.name));
    const known = migrations();
    const unknown = [...applied].filter((name) => !known.some((migration) => migration.name === name));
    if (unknown.length > 0) {
      throw new Error(
        `the database was migrated by a newer Vitrine (${unknown.join(', ')}); start that version`,
      );
    }
    for (const { name, text } of known) {
      if (applied.has(name)) continue;
      await client.query('begin');
      try {
        await client.query(text);
        await client.query('insert into migrations (name) values ($1)', [name]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
    }
    await runMigrations({ pgPool: pool });
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => {});
    await client.query('reset statement_timeout; reset lock_timeout').catch(() => {});
    client.release();
  }
}
