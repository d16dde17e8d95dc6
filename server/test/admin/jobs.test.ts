import { sql } from 'kysely';
import sharp from 'sharp';
import { beforeEach, describe, expect, test } from 'vitest';
import { lockFile } from '../../src/content/assets/insert.ts';
import { renderJob } from '../../src/content/assets/jobs/render.ts';
import { tilesJob } from '../../src/content/assets/jobs/tiles.ts';
import { pdf } from '../media/documents.ts';
import { auditEventsDuring } from '../support/audit.ts';
import { openLibrary, upload } from '../support/library.ts';
import { unknownBytes } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');

const forgetJobs = () =>
  sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(db);

beforeEach(async () => {
  await sql`select graphile_worker.force_unlock_workers(array['somebody'])`.execute(db);
  await forgetJobs();
});

/** Adds a job in this state, with this error if it failed. */
async function addJob(state: 'waiting' | 'running' | 'failed', name = 'expire', error = 'it broke') {
  const { rows } = await sql<{ id: number }>`
    select id from graphile_worker.add_job(${name}, '{}'::json, max_attempts => 3)`.execute(db);
  const id = rows[0]?.id ?? 0;
  if (state === 'failed')
    await sql`select graphile_worker.permanently_fail_jobs(array[${id}]::bigint[], ${error})`.execute(db);
  // The queue has no function that locks a job without running it.
  if (state === 'running')
    await sql`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'somebody', attempts = 1
      where id = ${id}`.execute(db);
  return id;
}

const jobs = (query = {}) => root.ok('listJobs', { query });
const idsOf = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id);

// ADMIN-5
describe('GET /admin/system/jobs', () => {
  test('lists unfinished jobs newest first, with state and last message', async () => {
    const [waiting, running] = [await addJob('waiting'), await addJob('running')];
    const failed = await addJob('failed', 'sweep', 'the disk is full');
    const { items } = await jobs();
    expect(items.map(({ id, name, state, last_error }) => [id, name, state, last_error])).toEqual([
      [failed, 'sweep', 'failed', 'the disk is full'],
      [running, 'expire', 'running', null],
      [waiting, 'expire', 'waiting', null],
    ]);
    expect(items[0]).toMatchObject({ attempts: 3, max_attempts: 3 });
  });

  test('filters by state and name', async () => {
    const [waiting, running] = [await addJob('waiting'), await addJob('running')];
    const [failed, swept] = [await addJob('failed'), await addJob('waiting', 'sweep')];
    expect(idsOf(await jobs({ state: 'waiting' }))).toEqual([swept, waiting]);
    expect(idsOf(await jobs({ state: 'running' }))).toEqual([running]);
    expect(idsOf(await jobs({ state: 'failed' }))).toEqual([failed]);
    expect(idsOf(await jobs({ name: 'sweep' }))).toEqual([swept]);
    expect(idsOf(await jobs({ name: 'sweep', state: 'failed' }))).toEqual([]);
    expect(idsOf(await jobs({ name: 'no such job' }))).toEqual([]);
  });

  test('pages without duplicates or gaps while jobs arrive', async () => {
    const ids = [];
    for (let i = 0; i < 5; i += 1) ids.push(await addJob('waiting'));
    const first = await jobs({ limit: 2 });
    await addJob('waiting');
    const second = await jobs({ limit: 2, cursor: first.next_cursor ?? '' });
    const third = await jobs({ limit: 2, cursor: second.next_cursor ?? '' });
    expect([first, second, third].flatMap(idsOf)).toEqual(ids.reverse());
    expect(third.next_cursor).toBeNull();
  });

  // ADMIN-5
  test('truncates long errors, shows odd characters, and never the payload of a job', async () => {
    await addJob('failed', 'expire', `ünïcode <b>${'x'.repeat(20_000)}`);
    await sql`select graphile_worker.add_job('render', '{"hash": "secret-payload"}'::json)`.execute(db);
    const { text } = await root.send('/admin/system/jobs');
    expect(text).not.toContain('secret-payload');
    const failed = (await jobs({ state: 'failed' })).items[0];
    expect(failed?.last_error?.length).toBe(4000);
    expect(failed?.last_error).toMatch(/^ünïcode <b>x/);
  });

  test('says in plain words why a job failed', async () => {
    const reasons = [
      ['ENOSPC: no space left on device, write', 'The disk is full.'],
      [
        "ENOENT: no such file or directory, open '/library/originals/ab'",
        'A file of the library is missing. The doctor names it.',
      ],
      ['the database is not available: Connection terminated unexpectedly', 'The database did not answer.'],
      ['connect ECONNREFUSED 127.0.0.1:587', 'A required server refused the connection.'],
      [
        'a decoder process ended with SIGKILL: ',
        'The process that reads files was killed, possibly because memory ran out.',
      ],
      ['TypeError: x is not a function\n    at render (file:///render.ts:1)', 'X is not a function.'],
      ['Error: no mail server answers at its address', 'No mail server answers at its address.'],
      ['', 'The job failed without an error message.'],
    ] as const;
    for (const [error] of reasons) await addJob('failed', 'expire', error);
    const { items } = await jobs();
    expect(items.map(({ last_error, reason }) => [last_error, reason])).toEqual(reasons.toReversed());
    // LANGUAGE-8
    const german = await root.send('/admin/system/jobs', { headers: { 'accept-language': 'de' } });
    expect(german.text).toContain('Die Festplatte ist voll.');
    expect(german.text).toContain('Unter der Adresse antwortet kein Mailserver.');
    expect(german.text).toContain('Die Aufgabe schlug ohne Fehlermeldung fehl.');
  });

  // ADMIN-12
  test('shows the progress, start and file of a transcode', async () => {
    const { file_hash: hash } = await upload(root, unknownBytes(), {}, 'film.bin');
    await forgetJobs();
    await sql`insert into transcodes (file_hash, state, progress)
      values (${hash}, 'running', 0.25)`.execute(db);
    const payload = sql`json_build_object('hash', ${hash}::text)`;
    await sql`select graphile_worker.add_job('transcode', ${payload})`.execute(db);
    expect((await jobs()).items).toMatchObject([{ state: 'waiting', running_since: null, progress: null }]);
    await sql`update graphile_worker._private_jobs
      set locked_at = '2026-05-04T03:02:01Z', locked_by = 'somebody'`.execute(db);
    const file = { mime: 'application/octet-stream', size_bytes: unknownBytes().length };
    const at = async (part: number) => {
      await sql`update transcodes set progress = ${part}`.execute(db);
      return (await jobs()).items;
    };
    const running = { state: 'running', running_since: '2026-05-04T03:02:01Z', file };
    expect(await at(0)).toMatchObject([{ ...running, progress: { part: 0, step: 'preparing' } }]);
    expect(await at(0.25)).toMatchObject([{ ...running, progress: { part: 0.25, step: 'encoding' } }]);
    expect(await at(1)).toMatchObject([{ ...running, progress: { part: 1, step: 'storing' } }]);
    await sql`delete from transcodes`.execute(db);
  });

  // ADMIN-12
  test.each(['tiles', 'render'] as const)(
    'shows the progress of %s while it runs, and keeps none of it',
    async (name) => {
      const { deps } = library;
      const panorama = { width: 5000, height: 2500, channels: 3, background: 'pink' } as const;
      const bytes =
        name === 'tiles'
          ? Uint8Array.from(await sharp({ create: panorama }).jpeg().toBuffer())
          : pdf(Array.from({ length: 10 }, (_, at) => `Page ${at}`));
      const fileName = name === 'tiles' ? 'panorama.jpg' : 'document.pdf';
      const hash = (await upload(root, bytes, {}, fileName)).file_hash ?? '';
      await forgetJobs();
      const id = await addJob('running', name);
      const context = { jobId: String(id), lastAttempt: false, log: deps.log };
      const handler = name === 'tiles' ? tilesJob(deps, 0) : renderJob(deps, 0);
      const progress = async () => (await jobs()).items.find((job) => job.id === id)?.progress ?? null;
      const { working } = await db.transaction().execute(async (tx) => {
        // The job needs this lock to store what it made, so it cannot end before its progress is read.
        await lockFile(tx, hash);
        const working = handler({ hash, owner: '1' }, context);
        await expect
          .poll(progress, { interval: 20 })
          .toEqual({ part: expect.any(Number), step: null, done: null, total: null });
        // In an object: the transaction would wait for a promise, and the job waits for the transaction.
        return { working };
      });
      await working;
      expect(await progress()).toBeNull();
      const { rows } = await sql`select from job_progress`.execute(db);
      expect(rows).toEqual([]);
    },
  );

  // ADMIN-12
  test('does not show the progress of an earlier attempt', async () => {
    const id = await addJob('running', 'tiles');
    await sql`insert into job_progress values (${id}, 0.5)`.execute(db);
    expect((await jobs()).items).toMatchObject([{ id, progress: { part: 0.5 } }]);
    await sql`update job_progress set updated_at = now() - interval '1 minute'`.execute(db);
    expect((await jobs()).items).toMatchObject([{ id, progress: null }]);
    await sql`delete from job_progress`.execute(db);
  });

  // ADMIN-12
  test('shows how many files a pass over the library processed', async () => {
    await sql`with run as (insert into extraction_runs (started_by_user_ref, total, done, state)
        values (${root.ref}, 40, 10, 'cancelled') returning id)
      select graphile_worker.add_job('extract-stored', json_build_object('run', id)) from run`.execute(db);
    const progress = { part: 0.25, done: 10, total: 40, step: null };
    expect((await jobs()).items).toMatchObject([{ progress }]);
  });

  test('has counts by name and state', async () => {
    for (const state of ['waiting', 'waiting', 'running', 'failed'] as const) await addJob(state);
    await addJob('failed', 'sweep');
    expect(await root.ok('countJobs')).toEqual({
      items: [
        { name: 'expire', waiting: 2, running: 1, failed: 1 },
        { name: 'sweep', waiting: 0, running: 0, failed: 1 },
      ],
      capped: false,
    });
  });
});

describe('a job', () => {
  const retry = (id: number) => root.send(`/admin/system/jobs/${id}/retry`, { method: 'POST' });
  const forget = (id: number) => root.send(`/admin/system/jobs/${id}`, { method: 'DELETE' });

  test('that failed can be retried', async () => {
    const id = await addJob('failed');
    const again = await root.ok('retryJob', { params: { id } });
    expect(again).toMatchObject({ id, state: 'waiting', attempts: 0, last_error: 'it broke' });
    await library.runJobs();
    await expect.poll(async () => (await retry(id)).status).toBe(404);
  });

  test('that waits for a retry can run now', async () => {
    const id = await addJob('waiting');
    await sql`select graphile_worker.reschedule_jobs(array[${id}]::bigint[], run_at => now() + interval '1 day',
      attempts => 2)`.execute(db);
    await library.runJobs();
    expect(idsOf(await jobs())).toEqual([id]);
    await root.ok('retryJob', { params: { id } });
    await library.runJobs();
    await expect.poll(async () => idsOf(await jobs())).toEqual([]);
  });

  // ADMIN-11
  test('that runs can be neither retried nor deleted, one that waits cannot be deleted: 409', async () => {
    const [running, waiting] = [await addJob('running'), await addJob('waiting')];
    const answers = [await retry(running), await forget(running), await forget(waiting)];
    expect(answers.map(({ status, text }) => [status, JSON.parse(text)])).toEqual([
      [409, { error: 'the job is running' }],
      [409, { error: 'the job has not failed' }],
      [409, { error: 'the job has not failed' }],
    ]);
    expect(idsOf(await jobs())).toEqual([waiting, running]);
  });

  // ADMIN-11
  test('that failed can be deleted; one that does not exist is 404', async () => {
    const id = await addJob('failed');
    expect([(await forget(id)).status, (await forget(id)).status]).toEqual([204, 404]);
    expect((await retry(987_654_321)).status).toBe(404);
    expect(idsOf(await jobs())).toEqual([]);
  });

  test('can be retried with all failed jobs, or those of one name', async () => {
    for (let i = 0; i < 3; i += 1) await addJob('failed');
    await addJob('failed', 'sweep');
    const running = await addJob('running');
    expect(await root.ok('retryFailedJobs', { body: { name: 'sweep' } })).toEqual({ retried: 1 });
    expect(await root.ok('retryFailedJobs', { body: { name: 'no such job' } })).toEqual({ retried: 0 });
    expect(await root.ok('retryFailedJobs', { body: undefined })).toEqual({ retried: 3 });
    expect(await root.ok('retryFailedJobs', { body: {} })).toEqual({ retried: 0 });
    await library.runJobs();
    await expect.poll(async () => idsOf(await jobs())).toEqual([running]);
  });

  // ADMIN-5
  test('is audited with its name for each successful act', async () => {
    const [one, other] = [await addJob('failed'), await addJob('failed', 'sweep')];
    const events = await auditEventsDuring(library, async () => {
      await root.ok('retryJob', { params: { id: one } });
      await root.ok('deleteJob', { params: { id: other } });
      await retry(other);
      await forget(one);
      await addJob('failed');
      await root.ok('retryFailedJobs', { body: {} });
      await root.ok('retryFailedJobs', { body: {} });
    });
    const actor_user_ref = root.ref;
    expect(events).toMatchObject([
      { event: 'system.job.retried', actor_user_ref, metadata: { job_id: one, name: 'expire' } },
      { event: 'system.job.deleted', actor_user_ref, metadata: { job_id: other, name: 'sweep' } },
      { event: 'system.jobs.retried', actor_user_ref, metadata: { name: null, retried: 1 } },
    ]);
  });
});
