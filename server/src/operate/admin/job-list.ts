import { countJobs, type Job, type JobProgress, type JobState, listJobs } from '@vitrine/contract/jobs';
import type { Language } from '@vitrine/contract/languages';
import { type RawBuilder, sql } from 'kysely';
import { countRerendered } from '../../content/assets/previews/rerender.ts';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { queuedJobs } from '../../platform/jobs/queue-tables.ts';
import { reasonIn } from './job-reason.ts';

/** Maximum number of jobs counted per name and state. */
const COUNTED = 100_000;
/** Length of a displayed error; stacks can be long. */
const LONGEST_ERROR = 4000;

/** The state of a row of `graphile_worker.jobs j`, the queue's own view. */
export const jobInState: Readonly<Record<JobState, RawBuilder<boolean>>> = {
  waiting: sql`(j.locked_at is null and j.attempts < j.max_attempts)`,
  running: sql`(j.locked_at is not null)`,
  failed: sql`(j.locked_at is null and j.attempts >= j.max_attempts)`,
};

interface JobRow extends Omit<Job, 'reason' | 'progress'> {
  transcoded: number | null;
  recorded: number | null;
  read: { done: number; total: number } | null;
  rewritten: { done: number; total: number } | null;
}

function progressOf(
  { name, state, transcoded, recorded, read, rewritten }: JobRow,
  rerendered: { done: number; total: number } | null,
): JobProgress | null {
  if (name === 'transcode' && state === 'running' && transcoded !== null) {
    const step = transcoded === 0 ? 'preparing' : transcoded < 1 ? 'encoding' : 'storing';
    return { part: transcoded, step, done: null, total: null };
  }
  if (state === 'running' && recorded !== null)
    return { part: recorded, step: null, done: null, total: null };
  const files = name === 'render-again' ? rerendered : (read ?? rewritten);
  if (files === null) return null;
  const { done, total } = files;
  return { part: total === 0 ? 1 : Math.min(1, done / total), step: null, done, total };
}

/**
 * Lists jobs `j` that meet a condition, newest first, with reasons in a language. Payloads never leave the server, because they may name hidden
 * content.
 */
export async function readJobs(
  db: Database,
  language: Language,
  which: RawBuilder<boolean>,
  limit: number,
): Promise<Job[]> {
  const { rows } = await sql<JobRow>`
    select j.id, j.task_identifier as name,
      case when ${jobInState.running} then 'running' when ${jobInState.failed} then 'failed' else 'waiting' end as state,
      j.attempts, j.max_attempts, left(j.last_error, ${LONGEST_ERROR}) as last_error,
      j.run_at::timestamptz(3) as run_at, j.created_at::timestamptz(3) as created_at,
      j.locked_at::timestamptz(3) as running_since, t.progress as transcoded, p.part as recorded,
      case when r.id is not null then json_build_object('done', r.done, 'total', r.total) end as read,
      case j.task_identifier when 'rewrite-tags' then (
        select json_build_object('done', done, 'total', greatest(done, total)) from tag_runs
        where finished_at is null order by number limit 1)
      when 'rewrite-fields' then (
        select json_build_object('done', done, 'total', greatest(done, total)) from field_runs
        where finished_at is null order by number limit 1) end as rewritten,
      case when f.hash is not null then json_build_object('mime', f.mime, 'size_bytes', f.size_bytes) end as file
    from graphile_worker.jobs j
      left join ${queuedJobs} details on details.id = j.id
      left join files f on f.hash = details.payload ->> 'hash'
      left join transcodes t on t.file_hash = f.hash and j.task_identifier = 'transcode'
      -- A record of an earlier attempt, whose process was killed, does not count.
      left join job_progress p on p.job_id = j.id and p.updated_at >= j.locked_at
      left join extraction_runs r on r.id::text = details.payload ->> 'run' and j.task_identifier = 'extract-stored'
    where ${which} order by j.id desc limit ${limit}`.execute(db);
  const rerendered = rows.some(({ name }) => name === 'render-again') ? await countRerendered(db) : null;
  return rows.map((row) => {
    const { transcoded: _, recorded: __, read: ___, rewritten: ____, ...job } = row;
    return {
      ...job,
      reason: reasonIn(language, job.last_error),
      progress: progressOf(row, rerendered),
    };
  });
}

export const list = handle(listJobs, async ({ db }, { caller, http, query }) => {
  const { limit = DEFAULT_LIMIT, state, name } = query;
  const after = refCursor.read(query.cursor)?.ref ?? null;
  const conditions = [
    after === null ? sql<boolean>`true` : sql<boolean>`j.id < ${after}`,
    state === undefined ? sql<boolean>`true` : jobInState[state],
    name === undefined ? sql<boolean>`true` : sql<boolean>`j.task_identifier = ${name}`,
  ];
  const language = readerLanguage(caller, http);
  const rows = await readJobs(db, language, sql`${sql.join(conditions, sql` and `)}`, limit + 1);
  return { status: 200, body: cutPage(rows, limit, (last) => refCursor.after({ ref: last.id })) };
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
