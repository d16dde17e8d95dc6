import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { assignedJobs, jobHandlers } from '../../src/boot/jobs.ts';
import { enqueueTiles } from '../../src/content/assets/decoding-jobs.ts';
import { enqueue, enqueueAll, type JobHandlers } from '../../src/core/job-table.ts';
import { forbiddenTurns, turnFlags } from '../../src/media/decoding/turns.ts';
import { runDueJobs } from '../../src/platform/jobs/worker.ts';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { countStatements } from '../support/statements.ts';

const library = await openLibrary();
const { db, log } = library.deps;

beforeEach(async () => {
  await library.runJobs();
});

async function jobs(): Promise<unknown[]> {
  const all = sql`select j.payload, j.key, j.max_attempts from graphile_worker._private_jobs j order by j.id`;
  return (await all.execute(db)).rows;
}

test.each([0, 1, 200])('enqueues %i jobs in at most one statement, each with its own key', async (count) => {
  const wanted = Array.from({ length: count }, (_, n) => ({
    payload: { hash: `"${n}", \\{}` },
    key: `one:${n}`,
  }));
  const [, statements] = await countStatements(library, () => enqueueAll(db, 'release-logo', wanted));
  expect(statements).toBe(Math.min(count, 1));
  expect(await jobs()).toEqual(wanted.map(({ payload, key }) => ({ payload, key, max_attempts: 5 })));
  await enqueueAll(db, 'release-logo', wanted);
  expect(await jobs()).toHaveLength(count);
});

test('runs jobs that an earlier version queued under a former name', async () => {
  await sql`select graphile_worker.add_job('tell-followers', json_build_object('post', ${randomUUID()}::text))`.execute(
    db,
  );
  await library.runJobs();
  expect(await jobs()).toEqual([]);
  for (const name of ['tell-followers', 'notify-followers']) {
    const { handlers } = assignedJobs(jobHandlers(library.deps), [name]);
    expect(Object.keys(handlers).sort()).toEqual(['notify-followers', 'tell-followers']);
  }
});

test('completes a run when its last job is completed or failed', async () => {
  // Recording a completion takes a while here, which reveals a run that does not wait for it.
  await sql`create function dawdle() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.2); return coalesce(new, old); end $$`.execute(db);
  await sql`create trigger dawdle before delete or update of last_error on graphile_worker._private_jobs
    for each row execute function dawdle()`.execute(db);
  await enqueue(db, 'mail-notification', { id: randomUUID() }, { key: 'mail' });
  await enqueue(db, 'release-logo', { hash: 'none' }, { key: 'logo' });
  await library.runJobs();
  expect(await jobs()).toEqual([]);
  // An unusable payload fails, and its error is recorded when the run ends.
  await sql`select graphile_worker.add_job('announce',
    '{"what": "request", "request": "no identifier", "actor": 1}', max_attempts => 1)`.execute(db);
  await library.runJobs();
  const { rows } = await sql<{ locked: boolean; failed: boolean }>`
    select locked_at is not null as locked, last_error is not null as failed
    from graphile_worker._private_jobs`.execute(db);
  expect(rows).toEqual([{ locked: false, failed: true }]);
});

test('defers jobs at their limit without delaying the jobs behind them', async () => {
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  let running = 0;
  let most = 0;
  const handlers: JobHandlers = {
    ...jobHandlers(library.deps),
    async 'release-logo'({ hash }) {
      if (hash === 'plain') {
        done.push(hash);
        return;
      }
      running += 1;
      most = Math.max(most, running);
      await gate.promise;
      running -= 1;
      done.push(hash);
    },
  };
  const slow = Array.from({ length: 6 }, (_, n) => ({ payload: { hash: `slow ${n}` }, key: `slow:${n}` }));
  const flagged = slow.map((job) => ({ ...job, flags: ['slow', 'another'] }));
  await enqueueAll(db, 'release-logo', flagged);
  await enqueue(db, 'release-logo', { hash: 'plain' }, { key: 'plain' });
  const forbidFlags = (running: ReadonlyMap<string, number>) => (running.has('slow') ? ['slow'] : []);
  const run = runDueJobs({ pool: library.database.pool, handlers, concurrency: 4, forbidFlags, log });
  try {
    await expect.poll(() => done).toEqual(['plain']);
  } finally {
    gate.resolve();
    await run;
  }
  expect([most, done.length]).toEqual([1, 7]);
});

// MEDIA-8
test('renders files of all owners in turns', async () => {
  const [mara, ivo] = await library.joinAll('mara', 'ivo');
  for (const seed of [1, 2, 3]) await upload(mara, await jpeg(20, 20, { seed }));
  await upload(ivo, await jpeg(20, 20, { seed: 4 }));
  const { rows } = await sql<{ priority: number; flags: object }>`select priority, flags
    from graphile_worker.jobs where task_identifier = 'render' order by id`.execute(db);
  expect(rows.map(({ priority }) => priority)).toEqual([1, 2, 3, 1]);
  expect(rows[3]?.flags).toEqual({ 'decode:picture': true, [`decode:picture:${ivo.ref}`]: true });
});

// MEDIA-8
test('starts no tiles while a picture is rendered', async () => {
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const handlers: JobHandlers = {
    ...jobHandlers(library.deps),
    async render() {
      await gate.promise;
      done.push('render');
    },
    async tiles() {
      done.push('tiles');
    },
    async 'release-logo'() {
      done.push('another');
    },
  };
  const file = { hash: 'tiled', owner: 'nobody' };
  await enqueue(db, 'render', file, { key: 'render:tiled', flags: turnFlags('picture', 'nobody') });
  await enqueueTiles(db, file);
  await enqueue(db, 'release-logo', { hash: 'plain' }, { key: 'after', priority: 20_000 });
  const { pool } = library.database;
  const run = runDueJobs({ pool, handlers, concurrency: 3, forbidFlags: forbiddenTurns, log });
  try {
    await expect.poll(() => done).toEqual(['another']);
  } finally {
    gate.resolve();
    await run;
  }
  expect(done).toEqual(['another', 'render', 'tiles']);
});
