import { sql } from 'kysely';
import type pg from 'pg';

/**
 * The private tables of graphile-worker, for what its public view and functions do not offer. Only this module names
 * them, because a later version may change them.
 */

const JOBS = 'graphile_worker._private_jobs';
const TASKS = 'graphile_worker._private_tasks';
const QUEUES = 'graphile_worker._private_job_queues';

/** The rows of the queue, with `id`, `key`, `payload`, `attempts` and `max_attempts`. The public view has no payload. */
export const queuedJobs = sql.raw(JOBS);

type Client = Pick<pg.ClientBase, 'query'>;

/** A job as its worker has locked it. */
interface LockedJob {
  id: string;
  attempts: number;
}

/** Returns whether the database has a queue. */
export async function hasQueue(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    JOBS,
  ]);
  return rows[0]?.found === true;
}

/**
 * Removes the locked jobs of a process that were enqueued again while they ran. They have lost their key and have no
 * attempts left: the new ones do their work, and these would be listed as failed for good.
 */
export async function removeReplacedJobs(client: Client, process: number): Promise<void> {
  await client.query(
    `delete from ${JOBS} where key is null and attempts >= max_attempts and last_error is null
       and locked_by in (select worker_id from job_workers where process = $1)`,
    [process],
  );
}

/** Unlocks one job of these workers, which is run again. graphile-worker has no function for it. */
export async function unlockJob(
  client: Client,
  { id, attempts }: LockedJob,
  workerIds: readonly string[],
): Promise<void> {
  await client.query(
    `update ${JOBS} set locked_at = null, locked_by = null, attempts = attempts - 1
     where id = $1 and attempts = $2 and locked_by = any($3)`,
    [id, attempts, [...workerIds]],
  );
}

/** Removes every job of these kinds. */
export async function removeJobsOf(client: Client, kinds: readonly string[]): Promise<void> {
  await client.query(
    `delete from ${JOBS} j using ${TASKS} t where t.id = j.task_id and t.identifier = any($1)`,
    [kinds],
  );
}

/** The columns of a job in a backup. */
export const jobColumns =
  'identifier, queue_name, payload, priority, run_at, attempts, max_attempts, last_error, created_at, updated_at, key, flags, revision';

/**
 * The statement that reads all jobs in `jobColumns`. A job that is running has used an attempt that a restored library
 * repeats.
 */
export const selectJobs = `select t.identifier, q.queue_name, j.payload, j.priority, j.run_at,
    case when j.locked_at is null then j.attempts else greatest(j.attempts - 1, 0) end, j.max_attempts,
    j.last_error, j.created_at, j.updated_at, j.key, j.flags, j.revision
  from ${JOBS} j join ${TASKS} t on t.id = j.task_id left join ${QUEUES} q on q.id = j.job_queue_id order by j.id`;

/**
 * Fills the queue from what `copy` writes into the table that it is given, in `jobColumns`. Call it in a transaction.
 */
export async function loadJobs(client: Client, copy: (table: string) => Promise<void>): Promise<void> {
  await client.query(`create temp table restored_jobs (place bigint generated always as identity, identifier text,
    queue_name text, payload json, priority smallint, run_at timestamptz, attempts smallint, max_attempts smallint,
    last_error text, created_at timestamptz, updated_at timestamptz, key text, flags jsonb, revision integer) on commit drop`);
  await copy('restored_jobs');
  await client.query(`insert into ${TASKS} (identifier)
    select distinct identifier from restored_jobs on conflict do nothing`);
  await client.query(`insert into ${QUEUES} (queue_name)
    select distinct queue_name from restored_jobs where queue_name is not null on conflict do nothing`);
  await client.query(`insert into ${JOBS} (task_id, job_queue_id, payload, priority, run_at, attempts, max_attempts,
      last_error, created_at, updated_at, key, flags, revision)
    select t.id, q.id, r.payload, r.priority, r.run_at, r.attempts, r.max_attempts, r.last_error, r.created_at,
      r.updated_at, r.key, r.flags, r.revision
    from restored_jobs r join ${TASKS} t on t.identifier = r.identifier
    left join ${QUEUES} q on q.queue_name = r.queue_name order by r.place`);
}
