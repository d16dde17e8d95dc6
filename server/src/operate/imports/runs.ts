import type { ImportGroup, ImportRunReport, ImportStep } from '@vitrine/contract/imports';
import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { alike, type Report, type ReportEntry } from './report.ts';

/** The report of a run as it is stored for its page. */
export type StoredReport = Pick<
  ImportRunReport,
  'counts' | 'hashes' | 'left_out' | 'changed' | 'vanished' | 'link_count'
>;

/** Bounds of what the page shows; the file of the report has everything. */
const MOST_GROUPS = 500;
const MOST_IDS = 50;

function grouped(entries: readonly ReportEntry[]): ImportGroup[] {
  const groups = alike(entries).slice(0, MOST_GROUPS);
  return groups.map((same) => ({
    kind: same[0]?.kind ?? '',
    reason: same[0]?.reason ?? '',
    count: same.length,
    ids: same.slice(0, MOST_IDS).map(({ id }) => id),
  }));
}

/** Returns a report for its page: grouped, bounded, and without links. */
function storedReport({ counts, hashes, left_out, changed, vanished, links }: Report): StoredReport {
  return {
    counts,
    hashes: { ...hashes, different: hashes.different.slice(0, MOST_GROUPS) },
    left_out: grouped(left_out),
    changed: grouped(changed),
    vanished: grouped(vanished),
    link_count: links.length,
  };
}

/** The row of a run that is under way. */
export interface RunLog {
  step(step: ImportStep): void;
  progress(done: number, total: number): void;
  /** Ends the run. */
  end(state: 'done' | 'stopped' | 'failed', error?: string): Promise<void>;
}

/** How often progress and the report so far are written. */
const WRITE_MS = 2000;

/** Records a run for its page, and its progress from time to time until it ends (IMPORT-11). */
export async function openRun(db: Database, system: string, report: Report): Promise<RunLog> {
  const { id } = await db
    .insertInto('import_runs')
    .values({ system })
    .returning('id')
    .executeTakeFirstOrThrow();
  const now: { step: ImportStep; done: number; total: number | null } = {
    step: 'definitions',
    done: 0,
    total: null,
  };
  const write = (ended: object = {}) =>
    db
      .updateTable('import_runs')
      .set({ ...now, ...ended, report: JSON.stringify(storedReport(report)), seen_at: sql<string>`now()` })
      .where('id', '=', id)
      .execute();
  let writing: Promise<unknown> = Promise.resolve();
  // The page is behind for a moment if a write fails; the import itself reports a lost database.
  const timer = setInterval(() => {
    writing = writing.then(() => write()).catch(() => {});
  }, WRITE_MS);
  return {
    step(step) {
      now.step = step;
    },
    progress(done, total) {
      now.done = done;
      now.total = total;
    },
    async end(state, error) {
      clearInterval(timer);
      await writing;
      if (state === 'done') now.step = 'finished';
      await write({ state, error: error ?? null, finished_at: sql<string>`now()` });
    },
  };
}
