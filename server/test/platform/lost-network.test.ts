import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enqueue } from '../../src/job-table.ts';
import { jobHandlers } from '../../src/jobs.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { startWorker, type Worker } from '../../src/platform/jobs/worker.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { openRelay, type Relay } from '../support/relay.ts';

let library: Library;
let relay: Relay;
let database: DatabasePool;
let worker: Worker;
const said: string[] = [];

beforeAll(async () => {
  library = await openLibrary();
  await library.runJobs();
  const { username, password, pathname, searchParams, port } = new URL(library.databaseUrl);
  relay = await openRelay(() => ({ path: `${searchParams.get('host')}/.s.PGSQL.${port}` }));
  const connectionString = `postgres://${username}:${password}@127.0.0.1:${relay.port}${pathname}`;
  database = openPool({ connectionString }, 4, (message) => said.push(message));
  const { deps } = library;
  worker = await startWorker({
    ...database,
    handlers: jobHandlers({ ...deps, db: database.db }),
    log: deps.log,
    // One worker, so that no other fetches the job while its fetch waits for a response.
    concurrency: 1,
    crontab: '',
  });
});

afterAll(async () => {
  await worker.stop();
  await database.close();
  await relay.close();
});

const soon = { timeout: 20_000, interval: 100 };

async function countJobs(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from graphile_worker._private_jobs`.execute(library.deps.db);
  return rows[0]?.n ?? 0;
}

/** Returns whether a worker's fetch waits for a lock. */
async function isFetchWaiting(): Promise<boolean> {
  const { rows } = await sql<{ waits: boolean }>`select exists (select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock') as waits`.execute(library.deps.db);
  return rows[0]?.waits ?? false;
}

// RUN-4
test('jobs run again after the network to the database has lost its connections without closing them', async () => {
  const { db } = library.deps;
  await enqueue(db, 'release-logo', { hash: 'none' }, { key: 'before' });
  await expect.poll(countJobs, soon).toBe(0);
  await db.transaction().execute(async (tx) => {
    await sql`lock table graphile_worker._private_jobs in access exclusive mode`.execute(tx);
    await expect.poll(isFetchWaiting, soon).toBe(true);
    relay.stall();
    relay.lose();
  });
  await expect.poll(() => said, soon).toContainEqual(expect.stringContaining('does not answer'));
  relay.restore();
  await enqueue(db, 'release-logo', { hash: 'none' }, { key: 'after' });
  await expect.poll(countJobs, soon).toBe(0);
});

// RUN-4
test('PostgreSQL ends sessions that a lost network has left, and so releases their locks', async () => {
  // On a unix socket these settings have no effect, but the session has them.
  const { rows } = await sql<{ name: string; value: string }>`
    select name, reset_val as value from pg_settings where name like 'tcp\\_%' order by name`.execute(
    database.db,
  );
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual({
    tcp_keepalives_count: '3',
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_user_timeout: '25000',
  });
});
