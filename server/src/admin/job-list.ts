import { countJobs, type Job, type JobState, listJobs } from '@vitrine/contract/jobs';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { handle } from '../platform/http/bind.ts';
import { readRefCursor, refCursorAfter } from '../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';

/** Jobs that are counted by name and state. */
const COUNTED = 100_000;
/** Characters of an error that are shown; stacks can be long. */
const LONGEST_ERROR = 4000;

/** The state of a row of `graphile_worker.jobs j`, the queue's own view of itself. */
export const jobInState: Readonly<Record<JobState, RawBuilder<boolean>>> = {
  waiting: sql`(j.locked_at is null and j.attempts < j.max_attempts)`,
  running: sql`(j.locked_at is not null)`,
  failed: sql`(j.locked_at is null and j.attempts >= j.max_attempts)`,
};

/** Jobs `j` by a condition, newest first. */
export async function readJobs(db: Database, which: RawBuilder<boolean>, limit: number): Promise<Job[]> {
  const { rows } = await sql<Job>`
    select j.id, j.task_identifier as name,
      case when ${jobInState.running} then 'running' when ${jobInState.failed} then 'failed' else 'waiting' end as state,
      j.attempts, j.max_attempts, left(j.last_error, ${LONGEST_ERROR}) as last_error,
      j.run_at::timestamptz(3) as run_at, j.created_at::timestamptz(3) as created_at
    from graphile_worker.jobs j where ${which} order by j.id desc limit ${limit}`.execute(db);
  return rows;
}

export const list = handle(listJobs, async ({ db }, { query }) => {
  const { limit = DEFAULT_LIMIT, state, name } = query;
  const after = readRefCursor(query.cursor);
  const conditions = [
    after === null ? sql<boolean>`true` : sql<boolean>`j.id < ${after}`,
    state === undefined ? sql<boolean>`true` : jobInState[state],
    name === undefined ? sql<boolean>`true` : sql<boolean>`j.task_identifier = ${name}`,
  ];
  const rows = await readJobs(db, sql`${sql.join(conditions, sql` and `)}`, limit + 1);
  return { status: 200, body: cutPage(rows, limit, (last) => refCursorAfter(last.id)) };
});

interface CountRow {
  name: string;
  waiting: number;
  running: number;
  failed: number;
}

export const counts = handle(countJobs, async ({ db }) => {
  const { rows } = await sql<CountRow>`
    select j.task_identifier as name, count(*) filter (where ${jobInState.waiting}) as waiting,
      count(*) filter (where ${jobInState.running}) as running, count(*) filter (where ${jobInState.failed}) as failed
    from (select * from graphile_worker.jobs limit ${COUNTED + 1}) j group by 1 order by 1`.execute(db);
  const all = rows.reduce((sum, row) => sum + row.waiting + row.running + row.failed, 0);
  return { status: 200, body: { items: rows, capped: all > COUNTED } };
});
