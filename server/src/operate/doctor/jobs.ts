import { jobNames } from '@vitrine/contract/jobs';
import { sql } from 'kysely';
import { countLiveWorkers, kindsWithoutWorker } from '../../platform/jobs/liveness.ts';
import { sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { jobInState } from '../admin/job-list.ts';
import { type Examination, type Finding, passed, problem, warning } from './check.ts';

const MOST_COUNTED = 10_000;

const failedJobs: Examination = {
  code: 'jobs_failed',
  title: sentence('Failed jobs'),
  async look({ db }) {
    const { rows } = await sql<{ name: string; n: number }>`
      select j.task_identifier as name, count(*) as n from (
        select j.task_identifier from graphile_worker.jobs j where ${jobInState.failed} limit ${MOST_COUNTED}) j
      group by 1 order by 2 desc`.execute(db);
    if (rows.length === 0) return passed(sentence('no job has failed'));
    const jobs = rows.map(({ name, n }) => `${n} ${name}`);
    return warning(
      sentence('permanently failed jobs: {jobs}', { jobs }),
      sentence('See the reasons under Jobs. Try them again once the cause is fixed, or remove them.'),
    );
  },
};

/** How long the oldest due job has waited, in minutes. */
export function judgeWaiting(minutes: number): Finding {
  if (minutes < 10) return passed(sentence('no due job has waited for long'));
  const detail = sentenceCount(Math.round(minutes), [
    'a job that is due has waited for # minute',
    'a job that is due has waited for # minutes',
  ]);
  const remedy = sentence(
    'Long work, such as an import, takes time. Otherwise check that a worker runs, and see its log; `vitrine worker` adds one.',
  );
  return minutes < 60 ? warning(detail, remedy) : problem(detail, remedy);
}

const waitingJobs: Examination = {
  code: 'jobs_waiting',
  title: sentence('Waiting jobs'),
  async look({ db }) {
    const { rows } = await sql<{ minutes: number | null }>`
      select extract(epoch from now() - min(j.run_at)) / 60 as minutes from graphile_worker.jobs j
      where ${jobInState.waiting} and j.run_at <= now()`.execute(db);
    return judgeWaiting(rows[0]?.minutes ?? 0);
  },
};

const workers: Examination = {
  code: 'workers',
  title: sentence('Workers'),
  async look({ db }) {
    const live = await countLiveWorkers(db);
    const missing = live === 0 ? [] : await kindsWithoutWorker(db, jobNames);
    if (missing.length > 0) {
      return problem(
        sentence('no process takes these kinds of jobs, which wait: {kinds}', { kinds: missing.sort() }),
        sentence('Name them in VITRINE_JOBS of a process, or start `vitrine worker` without VITRINE_JOBS.'),
      );
    }
    if (live > 0) return passed(sentenceCount(live, ['# process running jobs', '# processes running jobs']));
    return problem(
      sentence('no process runs jobs: uploads get no previews, and cleanup does not run'),
      sentence('Start Vitrine (`vitrine start` has a worker inside) or `vitrine worker`.'),
    );
  },
};

export const jobExaminations = [workers, waitingJobs, failedJobs];
