import { setTimeout as sleep } from 'node:timers/promises';
import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { type Logger, pino } from 'pino';
import { readRoots } from '../../content/root-files/root.ts';
import { sayReason } from '../../content/roots/reasons.ts';
import { scanRecorded } from '../../content/roots/record.ts';
import type { ScanOutcome } from '../../content/roots/scan.ts';
import { secretsOf } from '../../core/config/known-secrets.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import type { Deps } from '../../core/deps.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { safeLogForm } from '../../platform/http/log-entries.ts';
import { say } from '../../platform/language/say.ts';
import { sentence } from '../../platform/language/sentence.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { enterLibrary } from '../library-place.ts';
import { openLibraryStorage } from '../storage/open.ts';

type OpenDeps = (db: Database, storage: Storage, config: Config, log: Logger) => Promise<Deps>;

/** Longer than a scan whose process was killed keeps others waiting. */
const FREE_WITHIN_MS = 30_000;
const TRIED_EVERY_MS = 1000;

/** Exit status when something could not be read, which the output names. */
const LEFT_OUT = 3;

/** Returns the path or id of the one root to scan; undefined for all. */
function readArguments([verb, which, more]: readonly string[]): string | undefined {
  if (verb === 'scan' && more === undefined) return which;
  throw new ConfigError(sentence('choose a command: {command}', { command: 'vitrine roots scan [PATH]' }));
}

/** Scans a root. Waits until a scan whose process was killed no longer counts. */
async function scanWhenFree(deps: Deps, id: string): Promise<ScanOutcome> {
  const until = performance.now() + FREE_WITHIN_MS;
  for (;;) {
    const outcome = await scanRecorded(deps, id);
    if (outcome.state !== 'busy' || performance.now() > until) return outcome;
    await sleep(TRIED_EVERY_MS);
  }
}

function linesOf(language: Language, path: string, outcome: ScanOutcome): string[] {
  if (outcome.state === 'busy') return [say(language, '{path}: another process scans it', { path })];
  const { counts } = outcome;
  const words = say(
    language,
    'files {files}, added {added}, changed {changed}, moved {moved}, missing {missing}, returned {returned}, failed {failed}',
    counts,
  );
  const reason = outcome.state === 'done' ? [] : [`  ${sayReason(language, outcome.reason)}`];
  const failures = counts.failures.map(
    (failure) => `  ${failure.path}: ${sayReason(language, failure.reason)}`,
  );
  return [`${path}: ${words}`, ...reason, ...failures];
}

/**
 * `vitrine roots scan [PATH]`: scans all roots, or the one at a path, also beside a running service, which makes the
 * previews. Returns the exit code: 1 if a root could not be scanned, 3 if files could not be read.
 */
export async function rootsCommand(
  config: Config,
  args: readonly string[],
  openDeps: OpenDeps,
  print: (line: string) => void,
): Promise<number> {
  const which = readArguments(args);
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, log: (message) => console.error(message) });
  try {
    const roots = await readRoots(
      database.db,
      which === undefined ? sql`true` : sql`r.path = ${which} or r.id::text = ${which}`,
    );
    if (which !== undefined && roots.length === 0)
      throw new ConfigError(sentence('no folder in place {path}', { path: which }));
    const log = pino({ level: 'error', ...safeLogForm(secretsOf(config)) });
    const deps = await openDeps(database.db, await openLibraryStorage(config), config, log);
    try {
      const codes: number[] = [];
      for (const { id, path } of roots) {
        const outcome = await scanWhenFree(deps, id);
        for (const line of linesOf(config.language, path, outcome)) print(line);
        codes.push(outcome.state !== 'done' ? 1 : outcome.counts.failed > 0 ? LEFT_OUT : 0);
      }
      return codes.includes(1) ? 1 : Math.max(0, ...codes);
    } finally {
      await Promise.all([deps.decoders.close(), deps.metadata.close()]);
    }
  } finally {
    await database.close();
  }
}
