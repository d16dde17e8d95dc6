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
  // A statement cannot write a key twice.
  const last = [...new Map(jobs.map((job) => [job.key, job])).values()];
  // The worker removes it again, and links the job to the work that enqueued it.
  const traceparent = activeSpan.getStore()?.traceparent;
  const payloads = last.map(({ payload }) =>
    JSON.stringify(traceparent === undefined ? payload : { ...payload, traceparent }),
  );
  const times = last.map(({ runAt }) => runAt ?? null);
  const priorities = last.map(({ priority }) => priority ?? 0);
  const flags = last.map((job) => (job.flags === undefined ? null : JSON.stringify(job.flags)));
  await sql`select count(*) from graphile_worker.add_jobs((
    select array_agg((${name}, x.payload, null, x.run_at, ${MAX_ATTEMPTS}, x.key, x.priority,
        case when x.flags is not null then array(select jsonb_array_elements_text(x.flags)) end)::graphile_worker.job_spec
      order by x.place)
    from unnest(${payloads}::json[], ${last.map(({ key }) => key)}::text[], ${times}::timestamptz[],
      ${priorities}::int[], ${flags}::jsonb[]) with ordinality x (payload, key, run_at, priority, flags, place)))`.execute(
    db,
  );
}
