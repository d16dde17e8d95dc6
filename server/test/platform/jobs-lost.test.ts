import { type RawBuilder, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { jobHandlers } from '../../src/boot/jobs.ts';
import { enqueue, enqueueAll } from '../../src/core/job-table.ts';
import { type Database, type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { claimLiveness, countLiveWorkers } from '../../src/platform/jobs/liveness.ts';
import { startWorker, type Worker } from '../../src/platform/jobs/worker.ts';
import { openLibrary } from '../support/library.ts';
import { openRelay, type Relay } from '../support/relay.ts';

let worker: Worker | null = null;

const library = await openLibrary();
const { db, log } = library.deps;
await library.runJobs();

afterEach(async () => {
  await worker?.stop();
  worker = null;
});

async function start(): Promise<void> {
  const { pool, onSilence } = library.database;
  const handlers = jobHandlers(library.deps);
  worker = await startWorker({ pool, onSilence, handlers, log, concurrency: 2, crontab: '' });
}

/** Breaks all connections of the library to its database except its own. */
async function breakConnections(by: Database = db): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(by);
}

const count = async (rows: RawBuilder<unknown>) => (await rows.execute(db)).rows.length;
const countJobs = () => count(sql`select from graphile_worker._private_jobs`);
/** Returns the number of connections of the library to its database, including its own. */
const countConnections = () => count(sql`select from pg_stat_activity where datname = current_database()`);
/** Returns the number of fetches of workers that wait for a lock. */
const countWaiting = () =>
  count(sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

/** Returns the backends that hold the lock of a worker. */
async function holders(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select l.pid from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and a.datname = current_database()`.execute(db);
  return rows.map(({ pid }) => pid);
}

const soon = { timeout: 60_000, interval: 100 };

// RUN-4
test('restarts a queue that ended and completes its jobs', async () => {
  // A sequence also counts what is rolled back.
  await sql`create sequence refusals`.execute(db);
  await sql`create function refuse() returns trigger language plpgsql as $$
    begin perform nextval('refusals'); raise 'refused'; end $$`.execute(db);
  await sql`create trigger refuse before delete on graphile_worker._private_jobs
    for each row execute function refuse()`.execute(db);
  await start();
  await enqueue(db, 'release-logo', { hash: 'none' }, { key: 'logo' });
  const isRefused = async () => {
    const { rows } = await sql<{ is_called: boolean }>`select is_called from refusals`.execute(db);
    return rows[0]?.is_called;
  };
  await expect.poll(isRefused, soon).toBe(true);
  await sql`drop trigger refuse on graphile_worker._private_jobs`.execute(db);
  await expect.poll(countJobs, soon).toBe(0);
});

// RUN-8
test('completes a job whose connection broke while it was claimed', async () => {
  await start();
  await sql`select graphile_worker.add_job('release-logo', '{"hash": "none"}', run_at => now() + interval '1 hour')`.execute(
    db,
  );
  const readWorker = async () =>
    (await db.selectFrom('job_workers').select('worker_id').where('worker_id', 'like', 'pool-%').execute())[0]
      ?.worker_id;
  // A worker registers its name in the background.
  await expect.poll(readWorker, soon).toBeDefined();
  const workerId = await readWorker();
  await db.transaction().execute(async (tx) => {
    await sql`lock table graphile_worker._private_jobs in access exclusive mode`.execute(tx);
    await expect.poll(countWaiting, soon).toBeGreaterThan(0);
    // The state of the queue after the response to a fetch was lost.
    await sql`update graphile_worker._private_jobs set run_at = now(), locked_at = now(), attempts = 1,
      locked_by = ${workerId}`.execute(tx);
    await breakConnections(tx);
  });
  await expect.poll(countJobs, soon).toBe(0);
});

// RUN-8
test('reclaims the lock and keeps its jobs after losing a connection', async () => {
  const { pool } = library.database;
  const liveness = await claimLiveness(pool, log);
  const other = await claimLiveness(pool, log);
  liveness.register('worker-of-this-test');
  other.register('other-worker');
  await expect.poll(() => countLiveWorkers(db), soon).toBe(2);
  await sql`select graphile_worker.add_job('release-logo', '{"hash": "none"}')`.execute(db);
  await sql`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'worker-of-this-test'`.execute(
    db,
  );
  const before = await holders();
  await breakConnections();
  await expect
    .poll(async () => (await holders()).filter((pid) => !before.includes(pid)).length, soon)
    .toBe(2);
  const { rows } = await sql<{ locked_by: string }>`
    select locked_by from graphile_worker._private_jobs`.execute(db);
  expect(rows).toEqual([{ locked_by: 'worker-of-this-test' }]);
  await liveness.release();
  await other.release();
  await sql`delete from graphile_worker._private_jobs`.execute(db);
});

// RUN-12
test('runs many jobs over few connections', async () => {
  const warnings: unknown[] = [];
  const watched = log.child({}, { level: 'warn' });
  watched.warn = (...told: unknown[]) => warnings.push(told);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let running = 0;
  const handlers = {
    ...jobHandlers(library.deps),
    'release-logo': async () => {
      running += 1;
      await released;
    },
  };
  const before = await countConnections();
  // More concurrent jobs than the pool has connections.
  worker = await startWorker({ ...library.database, handlers, log: watched, concurrency: 18, crontab: '' });
  const names = Array.from({ length: 16 }, (_, n) => ({ payload: { hash: `${n}` }, key: `held:${n}` }));
  await enqueueAll(db, 'release-logo', names);
  await expect.poll(() => running, soon).toBe(16);
  const taken = (await countConnections()) - before;
  release();
  await expect.poll(countJobs, soon).toBe(0);
  expect(taken).toBeLessThanOrEqual(8);
  expect(warnings).toEqual([]);
});

describe('over a network', () => {
  let relay: Relay;
  let database: DatabasePool;
  const said: string[] = [];

  beforeAll(async () => {
    const { username, password, pathname, searchParams, port } = new URL(library.databaseUrl);
    relay = await openRelay(() => ({ path: `${searchParams.get('host')}/.s.PGSQL.${port}` }));
    const connectionString = `postgres://${username}:${password}@127.0.0.1:${relay.port}${pathname}`;
    database = openPool({ connectionString }, 4, (message) => said.push(message));
  });
  afterAll(async () => {
    await database.close();
    await relay.close();
  });

  // RUN-4
  test('jobs run again after it has lost its connections to the database without closing them', async () => {
    const handlers = jobHandlers({ ...library.deps, db: database.db });
    // One worker, so that no other fetches the job while its fetch waits for a response.
    worker = await startWorker({ ...database, handlers, log, concurrency: 1, crontab: '' });
    await enqueue(db, 'release-logo', { hash: 'none' }, { key: 'before' });
    await expect.poll(countJobs, soon).toBe(0);
    await db.transaction().execute(async (tx) => {
      await sql`lock table graphile_worker._private_jobs in access exclusive mode`.execute(tx);
      await expect.poll(countWaiting, soon).toBeGreaterThan(0);
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
});
