import { deleteJob, type Job, retryFailedJobs, retryJob } from '@vitrine/contract/jobs';
import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { jobInState, readJobs } from './job-list.ts';

/** Maximum number of failed jobs retried per request. */
const RETRIED = 10_000;

async function findJob(db: Database, language: Language, id: number): Promise<Job> {
  const [job] = await readJobs(db, language, sql`j.id = ${id}`, 1);
  if (job === undefined) throw notFound();
  return job;
}

/** The queue's own functions skip running jobs, even those that started after they were read. */
export const retry = handle(retryJob, async ({ db }, { caller, http, params }) => {
  const language = readerLanguage(caller, http);
  const job = await db.transaction().execute(async (tx) => {
    const { name } = await findJob(tx, language, params.id);
    const { rows } = await sql`select from graphile_worker.reschedule_jobs(array[${params.id}]::bigint[],
      run_at => now(), attempts => 0)`.execute(tx);
    if (rows.length === 0) throw refuse('job-running');
    await recordEvent(tx, caller, { event: 'system.job.retried', metadata: { job_id: params.id, name } });
    return findJob(tx, language, params.id);
  });
  return { status: 200, body: job };
});

export const retryFailed = handle(retryFailedJobs, async ({ db }, { caller, body }) => {
  const name = body?.name ?? null;
  const ofName = name === null ? sql<boolean>`true` : sql<boolean>`j.task_identifier = ${name}`;
  const retried = await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from graphile_worker.reschedule_jobs(
        array(select j.id from graphile_worker.jobs j where ${jobInState.failed} and ${ofName}
          order by j.id limit ${RETRIED}),
        run_at => now(), attempts => 0)`.execute(tx);
    const n = rows[0]?.n ?? 0;
    if (n > 0)
      await recordEvent(tx, caller, { event: 'system.jobs.retried', metadata: { name, retried: n } });
    return n;
  });
  return { status: 200, body: { retried } };
});

export const forget = handle(deleteJob, async ({ db }, { caller, http, params }) => {
  const language = readerLanguage(caller, http);
  await db.transaction().execute(async (tx) => {
    const { name } = await findJob(tx, language, params.id);
    const { rows } = await sql`select from graphile_worker.complete_jobs(
      array(select j.id from graphile_worker.jobs j where j.id = ${params.id} and ${jobInState.failed}))`.execute(
      tx,
    );
    if (rows.length === 0) throw refuse('job-not-failed');
    await recordEvent(tx, caller, { event: 'system.job.deleted', metadata: { job_id: params.id, name } });
  });
  return { status: 204 };
});
