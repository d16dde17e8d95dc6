import { sql } from 'kysely';
import type { Database } from '../database/pool.ts';

/** Every kind of job with what it is told; `jobs.ts` has exactly one handler for each. */
export interface Jobs {
  /** Renders the ladder of these bytes for every asset that waits for it. */
  render: { hash: string };
  /** Removes bytes that nothing refers to and uploads that were never finished. */
  sweep: Record<string, never>;
  /** Removes for good what was deleted longer ago than the retention says. */
  purge: Record<string, never>;
  /** Removes these bytes once no asset has them. */
  'release-bytes': { hash: string };
  /** Removes the bytes of a logo that left the history. */
  'release-logo': { hash: string };
  /** Removes sessions, grants and revokes that ran out. */
  expire: Record<string, never>;
  /** Removes audit events past their retention. */
  'retain-audit': Record<string, never>;
  /** Writes every search document in the library's language. */
  'rewrite-documents': Record<string, never>;
}
export type JobName = keyof Jobs;

export interface JobOptions {
  /** Jobs with the same key that have not begun are one job. */
  key: string;
}

/** A render is tried this often before the asset counts as failed. */
export const MAX_ATTEMPTS = 5;

/** Adds a job in the caller's transaction, so that it exists exactly when the rows it is about do. */
export async function enqueue<N extends JobName>(
  db: Database,
  name: N,
  payload: Jobs[N],
  { key }: JobOptions,
): Promise<void> {
  await sql`select graphile_worker.add_job(${name}, payload => ${JSON.stringify(payload)}::json,
    job_key => ${key}, max_attempts => ${MAX_ATTEMPTS})`.execute(db);
}
