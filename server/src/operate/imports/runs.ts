import type { ImportGroup, ImportRunReport, ImportStep } from '@vitrine/contract/imports';
import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { type Sentence, saySentence, storedForm } from '../../platform/language/sentence.ts';
import { alike, type Report, type ReportEntry } from './report.ts';

/** A group as it is stored: the reason in English, and as a sentence unless an earlier version has stored it. */
export interface StoredGroup extends Omit<ImportGroup, 'label'> {
  told?: Sentence;
}

/** The report of a run as it is stored for its page. */
export interface StoredReport extends Pick<ImportRunReport, 'counts' | 'hashes' | 'link_count'> {
  left_out: StoredGroup[];
  changed: StoredGroup[];
  vanished: StoredGroup[];
}

/** Bounds of what the page shows; the file of the report has everything. */
const MOST_GROUPS = 500;
const MOST_IDS = 50;

function grouped(entries: readonly ReportEntry[]): StoredGroup[] {
  return alike(entries)
    .slice(0, MOST_GROUPS)
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      const ids = same.slice(0, MOST_IDS).map(({ id }) => id);
      const { kind, reason } = first;
      return [{ kind, reason: saySentence('en', reason), told: reason, count: same.length, ids }];
    });
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
  end(state: 'done' | 'stopped' | 'failed', error?: Sentence): Promise<void>;
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
      await write({
        state,
        error: error === undefined ? null : storedForm(error),
        finished_at: sql<string>`now()`,
      });
    },
  };
}
