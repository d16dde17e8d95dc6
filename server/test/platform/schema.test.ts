import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { describeSchema } from '../../src/platform/database/describe.ts';
import {
  createJobQueue,
  createSchema,
  LATEST_QUEUE_MIGRATION,
  migrate,
} from '../../src/platform/database/migrate.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { fillEmptyTables } from '../support/sample-rows.ts';

const server = join(import.meta.dirname, '../..');
const settings: pg.ClientConfig = JSON.parse(inject('server'));
const opened: DatabasePool[] = [];
const created: string[] = [];

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ ...settings, database: 'postgres' });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function createDatabase(options = ''): Promise<string> {
  const name = `vitrine_schema_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  await administer(`create database ${name} ${options}`);
  created.push(name);
  return name;
}

/** Opens a pool like another process. */
function poolOf(database: string): DatabasePool {
  const pool = openPool({ ...settings, database }, 2);
  opened.push(pool);
  return pool;
}

/** Opens a copy of the template: a connection to the template itself would prevent other files from copying it. */
async function migratedPool(): Promise<DatabasePool> {
  return poolOf(await createDatabase(`template ${inject('template')} strategy file_copy`));
}

afterEach(async () => {
  for (const pool of opened.splice(0)) await pool.close();
  for (const name of created.splice(0)) await administer(`drop database if exists ${name} with (force)`);
});

/** Returns the text without differences that a formatter makes: spaces, quotes, commas and bars at line ends. */
function unformatted(text: string): string {
  return text
    .replace(/\s+/g, '')
    .replaceAll('"', "'")
    .replace(/([<:=(])\|/g, '$1')
    .replace(/,([}\])>])/g, '$1');
}

const read = (path: string) => readFileSync(join(server, path), 'utf8');

test('schema.sql and the table types match the migrations', async () => {
  const { pool } = await migratedPool();
  const { sql, module } = await describeSchema(pool);
  expect(unformatted(module)).toBe(unformatted(read('src/platform/database/tables.ts')));
  // The same on every version from 15 on, because describeSchema omits what only newer ones list.
  expect(sql).toBe(read('schema.sql'));
  expect(sql.match(/^create table /gm)?.length).toBeGreaterThan(20);
});

// A start without migrations does not load graphile-worker, so the number is written down.
test('knows the latest migration of the job queue', async () => {
  const { rows } = await (await migratedPool()).pool.query(
    'select max(id) as latest from graphile_worker.migrations',
  );
  expect(rows).toEqual([{ latest: LATEST_QUEUE_MIGRATION }]);
});

describe('migrations', () => {
  const known = readdirSync(join(server, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort();

  const applied = async ({ pool }: DatabasePool) =>
    (await pool.query<{ name: string; applied_at: string }>('select * from migrations order by name')).rows;

  // RUN-9
  test('can run in several processes at once, are idempotent, and refuse a database of a newer version', async () => {
    const database = await createDatabase();
    const pools = Array.from({ length: 4 }, () => poolOf(database));
    await Promise.all(pools.map(({ pool }) => migrate(pool)));
    const first = poolOf(database);
    const before = { applied: await applied(first), schema: await describeSchema(first.pool) };
    expect(before.applied.map((row) => row.name)).toEqual(known);
    expect(before.schema).toEqual(await describeSchema((await migratedPool()).pool));
    const roles = await first.pool.query<{ code: string }>('select code from roles order by code');
    expect(roles.rows.map((row) => row.code)).toEqual(['admin', 'member', 'viewer']);
    await first.pool.query('select from graphile_worker.jobs');
    await migrate(first.pool);
    expect({ applied: await applied(first), schema: await describeSchema(first.pool) }).toEqual(before);

    await first.pool.query("insert into migrations (name) values ('9999_of_tomorrow.sql')");
    const newer = await applied(first);
    await expect(migrate(first.pool)).rejects.toThrow(/newer Vitrine \(9999_of_tomorrow\.sql\)/);
    expect(await applied(first)).toEqual(newer);
    // The refusal released the lock, so another process need not wait.
    await first.pool.query("delete from migrations where name = '9999_of_tomorrow.sql'");
    await migrate(poolOf(database).pool);
  });

  // RUN-9
  // Migrates through every version, which takes minutes on a busy machine.
  test('run with rows in every table, and migrate libraries of earlier versions to this one', {
    timeout: 300_000,
  }, async () => {
    const schema = read('schema.sql');
    const name = await createDatabase();
    const queue = openPool({ ...settings, database: name }, 1);
    await createJobQueue(queue.pool);
    await queue.close();
    let connected: pg.Client | null = null;
    for (const [at, migration] of known.entries()) {
      // One connection for many migrations, as at a start, because each reads the catalogs itself.
      const client: pg.Client = connected ?? new pg.Client({ ...settings, database: name });
      if (connected === null) await client.connect();
      connected = client;
      await createSchema(client, [migration]);
      await client.query('insert into migrations (name) values ($1)', [migration]);
      expect({ migration, empty: await fillEmptyTables(client) }).toEqual({ migration, empty: {} });
      // Some versions, and the last, whose schema has gone through all of them with rows. Every migration has them anyway.
      if (at % 25 !== 0 && at !== known.length - 1) continue;
      // A database with a connection cannot be copied.
      await client.end();
      connected = null;
      const copy = await createDatabase(`template ${name} strategy file_copy`);
      const { pool } = poolOf(copy);
      await migrate(pool);
      expect({ from: migration, sql: (await describeSchema(pool)).sql }).toEqual({
        from: migration,
        sql: schema,
      });
    }
  });
});
