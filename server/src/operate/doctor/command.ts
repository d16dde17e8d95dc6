import { parseArgs } from 'node:util';
import type { Check } from '@vitrine/contract/doctor';
import { sql } from 'kysely';
import { placedFiles } from '../../content/root-files/placed.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { type OpenDatabase, openDatabase, requireTables } from '../../platform/database/open.ts';
import { connectionFault } from '../../platform/database/unusable.ts';
import { withPlacedFiles } from '../../platform/storage/in-place.ts';
import { enterLibrary } from '../library-place.ts';
import { openLibraryStorage } from '../storage/open.ts';
import { checkBytes, countFiles } from './bytes.ts';
import { several } from './check.ts';
import { examineAll } from './examine.ts';

const PROGRESS_EVERY_MS = 2000;

const marks: Readonly<Record<Check['status'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  problem: 'PROBLEM',
};

/** Formats a check as lines of text, followed by the remedy. */
function linesOf({ status, title, detail, remedy }: Check): string[] {
  const first = `${marks[status]}  ${title}: ${detail}`;
  return remedy === null ? [first] : [first, `         ${remedy}`];
}

interface Arguments {
  bytes: boolean;
  repair: boolean;
  after: string;
}

function readArguments(args: string[]): Arguments {
  const { bytes, repair, after } = parsed(args);
  if (!bytes && (repair || after !== '')) throw new ConfigError('--repair and --after go with --bytes');
  if (!/^([0-9a-f]{64})?$/.test(after)) throw new ConfigError('--after takes a hash of 64 hex digits');
  return { bytes, repair, after };
}

function parsed(args: string[]): Arguments {
  const options = {
    bytes: { type: 'boolean', default: false },
    repair: { type: 'boolean', default: false },
    after: { type: 'string', default: '' },
  } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message.split('\n')[0] : String(error));
  }
}

async function runChecks(
  { db }: Pick<OpenDatabase, 'db'>,
  config: Config,
  print: (line: string) => void,
): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const searchPath = process.env.PATH ?? '';
  const checks = await examineAll({ db, storage, config, searchPath });
  for (const line of checks.flatMap(linesOf)) print(line);
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length;
  print(`problems: ${count('problem')}, warnings: ${count('warning')}, fine: ${count('ok')}`);
  return count('problem') > 0 ? 1 : 0;
}

/** Checks every stored file; the first SIGINT or SIGTERM stops it and prints how to continue. */
async function runBytes(
  { db }: Pick<OpenDatabase, 'db'>,
  config: Config,
  { repair, after }: Arguments,
  print: (line: string) => void,
): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  const all = await countFiles(db, after);
  let lastPrintedAt = Date.now();
  const progress = ({ files, bytes }: { files: number; bytes: number }) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    const percent = Math.floor((100 * bytes) / Math.max(1, all.bytes));
    console.error(`${percent} %, ${files} of ${several(all.files, 'file')}`);
  };
  try {
    const report = await checkBytes({ db, storage }, { after, repair, signal: stop.signal, print, progress });
    const { files, bytes, lost, previews, repairing, stoppedAfter } = report;
    print(
      `checked: ${several(files, 'file')}, ${bytes} bytes; lost: ${lost}, with damaged previews: ${previews}` +
        (repairing > 0 ? `, being rendered again: ${repairing}` : ''),
    );
    if (lost > 0)
      print('Upload or import the lost files again, or restore them below library/ from a backup.');
    if (stoppedAfter !== null) {
      print(`stopped; go on with --bytes${stoppedAfter === '' ? '' : ` --after ${stoppedAfter}`}`);
      return 2;
    }
    return lost > 0 || previews > repairing ? 1 : 0;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}

/**
 * `vitrine doctor`: runs the checks of the admin page on a running or stopped library, whose database it
 * does not migrate. With `--bytes` it reads every stored file instead. Returns the exit code: 1 when there is a
 * problem, 2 when it was stopped before the end.
 */
export async function doctorCommand(
  config: Config,
  args: string[],
  print: (line: string) => void,
): Promise<number> {
  const chosen = readArguments(args);
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  try {
    await sql`select 1`.execute(database.db);
  } catch (error) {
    await database.close();
    print(`PROBLEM  Database: the database cannot be reached: ${connectionFault(error)}`);
    return 1;
  }
  try {
    await requireTables(database.pool, config);
    return await (chosen.bytes
      ? runBytes(database, config, chosen, print)
      : runChecks(database, config, print));
  } finally {
    await database.close();
  }
}
