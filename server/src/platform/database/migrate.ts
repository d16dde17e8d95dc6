import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { serverFolder } from '../installation.ts';
import { sentence } from '../language/sentence.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { DatabaseUnusable } from './unusable.ts';

const directory = join(serverFolder, 'migrations');

const MIGRATIONS_TABLE =
  'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())';

/** The table that exists from the beginning of a restore to its end. */
const RESTORING = 'public.restoring';

/** Marks the database as incompletely restored, until `endRestoring` removes the mark. */
export async function beginRestoring(client: pg.ClientBase): Promise<void> {
  await client.query(`create table if not exists ${RESTORING} ()`);
}

/** Removes the mark in the caller's transaction. */
export async function endRestoring(client: pg.ClientBase): Promise<void> {
  await client.query(`drop table ${RESTORING}`);
}

/** Returns whether a restore into this database began and has not finished. */
export async function isRestoring(client: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    RESTORING,
  ]);
  return rows[0]?.found === true;
}

async function refuseRestoring(client: pg.ClientBase): Promise<void> {
  if (!(await isRestoring(client))) return;
  throw new DatabaseUnusable(sentence('this library is only partly restored; run vitrine restore again'));
}

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
 * Applies the named migrations to an empty database, in their order, in the caller's transaction and without recording
 * them: a restore creates the schema that a backup was made of.
 */
export async function createSchema(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query(MIGRATIONS_TABLE);
  for (const { name, text } of migrations()) if (names.includes(name)) await client.query(text);
}

/** The latest migration of graphile-worker in this version. */
export const LATEST_QUEUE_MIGRATION = 20;

/** Whether the tables of the job queue are those of this version. */
async function hasCurrentQueue(client: pg.ClientBase): Promise<boolean> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    `select to_regclass('graphile_worker.migrations') is not null as exists`,
  );
  if (found[0]?.exists !== true) return false;
  const { rows } = await client.query<{ latest: number | null }>(
    'select max(id) as latest from graphile_worker.migrations',
  );
  return rows[0]?.latest === LATEST_QUEUE_MIGRATION;
}

/** Creates the tables of the job queue. */
export async function createJobQueue(pool: pg.Pool): Promise<void> {
  const { runMigrations } = await import('graphile-worker');
  await runMigrations({ pgPool: pool });
}

/**
 * Migrates the database to this version: forward only, each file in one transaction, under an advisory lock, so that
 * any number of processes may start concurrently. Throws when the database is newer than this version, or when a
 * restore has not finished (RUN-15).
 */
export async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    // Waiting for another process and a migration itself may both take long.
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.migration]);
    await refuseRestoring(client);
    await client.query(MIGRATIONS_TABLE);
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    const applied = new Set(rows.map((row) => row.name));
    const known = migrations();
    const unknown = [...applied].filter((name) => !known.some((migration) => migration.name === name));
    if (unknown.length > 0) {
      throw new DatabaseUnusable(
        sentence('the database was migrated by a newer Vitrine ({migrations}); start that version', {
          migrations: unknown,
        }),
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
    // Checked first, because loading graphile-worker takes longer than anything else in a start without migrations.
    if (!(await hasCurrentQueue(client))) await createJobQueue(pool);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [advisoryLocks.migration]).catch(() => {});
    await client.query('reset statement_timeout; reset lock_timeout').catch(() => {});
    client.release();
  }
}
