import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { reachableByDatabaseUser } from '../../src/platform/database/database-user.ts';
import { startEmbedded } from '../../src/platform/database/embedded.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { writeToMemory } from './scratch.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Settings of the test server, without a database. */
    server: string;
    /** The migrated database that every test file clones. */
    template: string;
  }
}

const TEMPLATE = `vitrine_template_${process.pid}`;

async function administer(settings: pg.ClientConfig, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ ...settings, database: 'postgres' });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

async function migrateTemplate(settings: pg.ClientConfig): Promise<void> {
  await administer(settings, `create database ${TEMPLATE}`);
  const database = openPool({ ...settings, database: TEMPLATE }, 2);
  await migrate(database.pool);
  await database.close();
}

/**
 * Before all tests: a PostgreSQL (the embedded one in a directory of its own, or DATABASE_URL's) with a migrated
 * template. fsync is off there alone, where nothing has to outlive the run.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const clearMemory = await writeToMemory();
  const url = process.env.DATABASE_URL;
  if (url !== undefined && url !== '') {
    const { hostname, port, username, password, searchParams } = new URL(url);
    const settings = {
      host: searchParams.get('host') ?? hostname,
      port: Number(port === '' ? (searchParams.get('port') ?? 5432) : port),
      user: decodeURIComponent(username),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    };
    await migrateTemplate(settings);
    project.provide('server', JSON.stringify(settings));
    project.provide('template', TEMPLATE);
    return async () => {
      await administer(settings, `drop database if exists ${TEMPLATE}`);
      await clearMemory();
    };
  }
  const base = reachableByDatabaseUser(tmpdir()) ? tmpdir() : '/var/tmp';
  const dataDir = await mkdtemp(join(base, 'vitrine-test-'));
  await chmod(dataDir, 0o755);
  const database = await startEmbedded({
    dataDir,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      // Plans and counts depend on the statistics that a test gathers itself, not on the moment.
      autovacuum: 'off',
      // Planning takes most of the database's time in tests, which run each statement a few times per connection.
      plan_cache_mode: 'force_generic_plan',
      max_connections: '200',
    },
    log: (message) => console.error(message),
  });
  const { host, port, user, password } = database.connection;
  const settings = { host, port, user, password };
  await migrateTemplate(settings);
  project.provide('server', JSON.stringify(settings));
  project.provide('template', TEMPLATE);
  return async () => {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
    await clearMemory();
  };
}
