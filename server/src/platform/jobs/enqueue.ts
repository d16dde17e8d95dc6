import { sql } from 'kysely';
import type { Database } from '../database/pool.ts';
import { activeSpan } from '../tracing/active-span.ts';

export interface JobOptions {
  /** Pending jobs with the same key are one job. */
  key: string;
  /** The earliest start; default: as soon as possible. */
  runAt?: string;
  /** Jobs with smaller numbers start first; default 0. */
  priority?: number;
  /** Limits how many of these jobs run concurrently (`limit-flags.ts`). */
  flags?: readonly string[];
}

/** Attempts before a job fails for good; a failed render marks its asset as failed. */
const MAX_ATTEMPTS = 5;

/**
 * Adds any number of jobs of one kind in one statement of the caller's transaction, so that they exist if and only if
 * that commits.
 */
export async function addJobs(
  db: Database,
  name: string,
  jobs: readonly ({ payload: object } & JobOptions)[],
): Promise<void> {
  if (jobs.length === 0) return;
  // The worker removes it again, and links the job to the work that enqueued it.
  const traceparent = activeSpan.getStore()?.traceparent;
  const payloads = jobs.map(({ payload }) =>
    JSON.stringify(traceparent === undefined ? payload : { ...payload, traceparent }),
  );
  const times = jobs.map(({ runAt }) => runAt ?? null);
  const priorities = jobs.map(({ priority }) => priority ?? 0);
  const flags = jobs.map((job) => (job.flags === undefined ? null : JSON.stringify(job.flags)));
  await sql`select graphile_worker.add_job(${name}, payload => x.payload, job_key => x.key, run_at => x.run_at,
      max_attempts => ${MAX_ATTEMPTS}, priority => x.priority,
      flags => case when x.flags is not null then array(select jsonb_array_elements_text(x.flags)) end)
    from unnest(${payloads}::json[], ${jobs.map(({ key }) => key)}::text[], ${times}::timestamptz[],
      ${priorities}::int[], ${flags}::jsonb[])
      x (payload, key, run_at, priority, flags)`.execute(db);
}
