import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { SignedIn } from '../../access/caller.ts';
import { secretsOf } from '../../core/config/known-secrets.ts';
import type { Config } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { OpenDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { atOnce } from '../../platform/files/operations.ts';
import { safeLogForm } from '../../platform/http/log-entries.ts';
import { say } from '../../platform/language/say.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { progressBar } from '../import/progress.ts';
import { openLibraryStorage } from '../storage/open.ts';
import type { Ledger } from './ledger.ts';
import { createReporter, reportJson, reportText } from './report.ts';
import { openRun } from './runs.ts';
import type { ImportTools } from './tools.ts';

/** Where a command prints its report and its warnings. */
type Output = Pick<Console, 'log' | 'error'>;

/** The parts of a running service that an import works with. */
export interface ImportParts {
  openDeps(db: Database, storage: Storage, config: Config, log: Logger): Promise<Deps>;
  /** Starts rendering what is imported, unless the service does. */
  startWorker(deps: Deps, database: OpenDatabase): Promise<{ stop(): Promise<void> }>;
  output: Output;
}

/** An import that is about to run. */
export interface Undertaking {
  config: Config;
  database: OpenDatabase;
  /** The name of the earlier system for people, and the one under which its ids are recorded. */
  source: string;
  system: string;
  /** What the audit log calls it, and the files of its report begin with. */
  name: 'resourcespace' | 'immich';
  ledger: Ledger;
  owner: SignedIn;
  /** The number of things to import. */
  total: number;
  /** Another file for the report. */
  reportPath: string | undefined;
  isStopped(): boolean;
}

/** Writes the report where the operator asked for it, and into the data directory. */
async function writeReports(
  { config, name, reportPath }: Undertaking,
  json: string,
  text: string,
): Promise<string> {
  const folder = join(config.dataDir, 'imports');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const base = join(folder, `${name}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  // It has the addresses and passwords of links.
  const mode = { mode: 0o600 };
  await writeFile(`${base}.json`, json, mode);
  await writeFile(`${base}.txt`, text, mode);
  if (reportPath !== undefined) await writeFile(reportPath, json, mode);
  return base;
}

/**
 * Runs an import with a row of its own and a report. Returns the exit code: 0, or 3 if something was left out (IMPORT-7).
 */
export async function performImport(
  undertaking: Undertaking,
  { openDeps, startWorker, output }: ImportParts,
  work: (tools: ImportTools, onProgress: (done: number) => void) => Promise<void>,
): Promise<number> {
  const { config, database, source, system, name, ledger, owner, total, isStopped } = undertaking;
  const { db } = database;
  const reporter = createReporter();
  const storage = await openLibraryStorage(config, atOnce);
  const log = pino({ level: 'error', ...safeLogForm(secretsOf(config)) });
  const deps = await openDeps(db, storage, config, log);
  const worker = await startWorker(deps, database);
  const bar = progressBar(config.language, total);
  const run = await openRun(db, system, reporter.report);
  try {
    await work({ deps, source, ledger, reporter, run, owner, isStopped }, (done) => {
      bar.show(done);
      run.progress(done, total);
    });
    await run.end(isStopped() ? 'stopped' : 'done');
  } catch (error) {
    // The first error counts.
    await run.end('failed', sentenceOfError(error)).catch(() => {});
    throw error;
  } finally {
    bar.stop();
    await worker.stop();
    await Promise.all([deps.decoders.close(), deps.metadata.close()]);
  }
  const { report } = reporter;
  await db
    .transaction()
    .execute((tx) => recordEvent(tx, null, { event: `${name}.imported`, metadata: { ...report.counts } }));
  const text = reportText(config.language, source, report);
  const base = await writeReports(undertaking, reportJson(report), text);
  output.log(text);
  output.log(
    say(config.language, 'the report is {text} and {json}', { text: `${base}.txt`, json: `${base}.json` }),
  );
  if (isStopped()) output.log(say(config.language, 'stopped; run it again to go on where it was'));
  return isStopped() || report.left_out.length > 0 ? 3 : 0;
}
