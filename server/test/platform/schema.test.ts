import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { describeSchema } from '../../src/platform/database/describe.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';

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

async function emptyDatabase(): Promise<string> {
  const name = `vitrine_schema_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  await administer(`create database ${name}`);
  created.push(name);
  return name;
}

/** Opens a pool like another process. */
function poolOf(database: string): DatabasePool {
  const pool = openPool({ ...settings, database }, 2);
  opened.push(pool);
  return pool;
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

describe('the generated schema files match the migrations', () => {
  test('schema.sql and the table types', async () => {
    const { pool } = poolOf(inject('template'));
    const { sql, module } = await describeSchema(pool);
    expect(unformatted(module)).toBe(unformatted(read('src/platform/database/tables.ts')));
    // The same on every version from 15 on, because describeSchema omits what only newer ones list.
    expect(sql).toBe(read('schema.sql'));
    expect(sql.match(/^create table /gm)?.length).toBeGreaterThan(20);
  });
});

describe('migrations', () => {
  const known = readdirSync(join(server, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort();

  const applied = async ({ pool }: DatabasePool) =>
    (await pool.query<{ name: string; applied_at: string }>('select * from migrations order by name')).rows;

  // RUN-9
  test('can run in ten processes at once, and are idempotent', async () => {
    const database = await emptyDatabase();
    const pools = Array.from({ length: 10 }, () => poolOf(database));
    await Promise.all(pools.map(({ pool }) => migrate(pool)));
    const first = poolOf(database);
    const before = { applied: await applied(first), schema: await describeSchema(first.pool) };
    expect(before.applied.map((row) => row.name)).toEqual(known);
    expect(before.schema).toEqual(await describeSchema(poolOf(inject('template')).pool));
    const roles = await first.pool.query<{ code: string }>('select code from roles order by code');
    expect(roles.rows.map((row) => row.code)).toEqual(['admin', 'member', 'viewer']);
    await first.pool.query('select from graphile_worker.jobs');

    await migrate(first.pool);
    expect({ applied: await applied(first), schema: await describeSchema(first.pool) }).toEqual(before);
  });

  // RUN-9
  test('refuse a database of a newer version without changes', async () => {
    const database = await emptyDatabase();
    const own = poolOf(database);
    await migrate(own.pool);
    await own.pool.query("insert into migrations (name) values ('9999_of_tomorrow.sql')");
    const before = await applied(own);
    await expect(migrate(own.pool)).rejects.toThrow(/newer Vitrine \(9999_of_tomorrow\.sql\)/);
    expect(await applied(own)).toEqual(before);
    // The refusal released the lock, so another process need not wait.
    await own.pool.query("delete from migrations where name = '9999_of_tomorrow.sql'");
    await migrate(poolOf(database).pool);
  });
});
