import { sql } from 'kysely';
import type { Database } from '../../../platform/database/pool.ts';

/** How often the progress of a job is recorded, in milliseconds. Jobs that end sooner record none. */
const EVERY_MS = 2000;

/** Records how far a running job has come, for lists of jobs (ADMIN-12). */
interface ProgressRecord {
  /** Records a fraction from 0 to 1. May be called at any rate. */
  report(part: number): void;
  /** Removes the record at the end of the job. */
  close(): Promise<void>;
}

/**
 * Opens the record of a job. Writes at most one row every `everyMs`, and none for a job that ends before that. Progress
 * is optional: a failed statement is ignored, and the next one replaces it.
 */
export function openProgress(db: Database, jobId: string, everyMs = EVERY_MS): ProgressRecord {
  let writtenAt = performance.now();
  let writing: Promise<unknown> | null = null;
  let isWritten = false;
  return {
    report(part) {
      if (writing !== null || performance.now() - writtenAt < everyMs) return;
      writtenAt = performance.now();
      isWritten = true;
      writing =
        sql`insert into job_progress (job_id, part) values (${jobId}, ${Math.min(1, Math.max(0, part))})
          on conflict (job_id) do update set part = excluded.part, updated_at = now()`
          .execute(db)
          .catch(() => {})
          .finally(() => {
            writing = null;
          });
    },
    async close() {
      await writing;
      if (!isWritten) return;
      // Also the records of killed processes, whose jobs recorded nothing when they ran again.
      await sql`delete from job_progress where job_id = ${jobId} or updated_at < now() - interval '1 day'`
        .execute(db)
        .catch(() => {});
    },
  };
}
