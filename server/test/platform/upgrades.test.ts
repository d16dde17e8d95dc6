import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { describeSchema } from '../../src/platform/database/describe.ts';
import {
  createJobQueue,
  createSchema,
  knownMigrations,
  migrate,
} from '../../src/platform/database/migrate.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { fillEmptyTables } from '../support/sample-rows.ts';

const settings: pg.ClientConfig = JSON.parse(inject('server'));
/** The database that runs all migrations; the others are copies of it. */
const name = `vitrine_upgrades_${process.pid}_${randomBytes(3).toString('hex')}`;
const admin = new pg.Pool({ ...settings, database: 'postgres', max: 3 });

async function connect(database: string): Promise<pg.Client> {
  const client = new pg.Client({ ...settings, database });
  await client.connect();
  return client;
}

beforeAll(async () => {
  await admin.query(`create database ${name}`);
  const database = openPool({ ...settings, database: name }, 1);
  await createJobQueue(database.pool);
  await database.close();
});
afterAll(async () => {
  const { rows } = await admin.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [name],
  );
  for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
  await admin.end();
});

/** Applies one migration, adds a row to each new table, and returns the tables that stay empty. */
async function step(migration: string): Promise<Record<string, string>> {
  const client = await connect(name);
  try {
    await createSchema(client, [migration]);
    await client.query('insert into migrations (name) values ($1)', [migration]);
    return await fillEmptyTables(client);
  } finally {
    await client.end();
  }
}

/** Migrates a copy of the database to this version. Returns what is wrong with the result, or null. */
async function migrateCopy(copy: string, schema: string): Promise<string | null> {
  const { pool, close } = openPool({ ...settings, database: copy }, 2);
  try {
    await migrate(pool);
    return (await describeSchema(pool)).sql === schema ? null : 'it has another schema';
  } catch (error) {
    return String(error);
  } finally {
    await close();
    await admin.query(`drop database ${copy}`);
  }
}

// RUN-9
test('every migration runs with rows in every table, and libraries of earlier versions migrate to this one', async () => {
  const schema = readFileSync(join(import.meta.dirname, '../../schema.sql'), 'utf8');
  const several = pLimit(2);
  const migrated: Promise<{ from: string; problem: string | null }>[] = [];
  const versions = knownMigrations();
  for (const [at, from] of versions.entries()) {
    expect({ from, empty: await step(from) }).toEqual({ from, empty: {} });
    const copy = `${name}_${at}`;
    await admin.query(`create database ${copy} template ${name} strategy file_copy`);
    migrated.push(several(async () => ({ from, problem: await migrateCopy(copy, schema) })));
  }
  expect((await Promise.all(migrated)).filter(({ problem }) => problem !== null)).toEqual([]);
});
