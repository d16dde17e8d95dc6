import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { bundleFolder } from '../../bin/bundle.js';
import { type EmbeddedConnection, startEmbedded } from '../../src/platform/database/embedded.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { isClustered } from './cluster.ts';
import { makeDirectory, startReplicated } from './replica.ts';
import { writeToMemory } from './scratch.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Settings of the test server, without a database. */
    server: string;
    /** Settings of its replica; null without one. */
    replica: string | null;
    /** The migrated database that every test file clones. */
    template: string;
  }
}

/** Settings of every server of tests. */
const usual = {
  // Plans and counts must depend only on statistics that tests gather themselves.
  autovacuum: 'off',
  // Planning takes most of the database's time in tests, which run each statement a few times per connection.
  plan_cache_mode: 'force_generic_plan',
  max_connections: '200',
  // Without autovacuum nothing else would empty the pending lists of GIN indexes, which every search reads whole.
  gin_pending_list_limit: '64kB',
};

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
  // A database with a connection cannot be copied, and a busy server ends closed connections late.
  await administer(
    settings,
    `alter database ${TEMPLATE} allow_connections false`,
    `select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = '${TEMPLATE}'`,
  );
}

/** Lets tests start decoders from the bundle of the present sources, if there is one. */
function useBundle(): void {
  const folder = bundleFolder();
  if (existsSync(folder)) process.env.VITRINE_BUNDLE = folder;
}

/**
 * Runs before all tests: starts PostgreSQL (the embedded one in its own directory, or that of DATABASE_URL) with a
 * migrated template, and with `test:cluster` a replica. Only the embedded one has fsync off: nothing outlives the run.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  useBundle();
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
    project.provide('replica', null);
    project.provide('template', TEMPLATE);
    return async () => {
      await administer(settings, `drop database if exists ${TEMPLATE}`);
      await clearMemory();
    };
  }
  const { connection, replica, stop } = isClustered ? await startWithReplica() : await startAlone();
  const settings = settingsOf(connection);
  if (replica === null) await migrateTemplate(settings);
  project.provide('server', JSON.stringify(settings));
  project.provide('replica', replica === null ? null : JSON.stringify(settingsOf(replica)));
  project.provide('template', TEMPLATE);
  return async () => {
    await stop();
    await clearMemory();
  };
}

const settingsOf = ({ host, port, user, password }: EmbeddedConnection) => ({ host, port, user, password });

async function startAlone() {
  const dataDir = await makeDirectory();
  const database = await startEmbedded({
    dataDir,
    settings: {
      ...usual,
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
    },
    log: (message) => console.error(message),
  });
  const stop = async () => {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { connection: database.connection, replica: null, stop };
}

/**
 * Starts a server with a replica that applies each transaction before its commit returns, because tests read as one
 * account what another one has just written.
 */
async function startWithReplica() {
  const { primary, replica, administerPrimary, stop } = await startReplicated(
    (connection) => migrateTemplate(settingsOf(connection)),
    usual,
  );
  await administerPrimary(`alter system set synchronous_standby_names = '*'`);
  await administerPrimary(`alter system set synchronous_commit = 'remote_apply'`);
  await administerPrimary('select pg_reload_conf()');
  return { connection: primary, replica, stop };
}
