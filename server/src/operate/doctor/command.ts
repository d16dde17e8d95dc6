import type { Check } from '@vitrine/contract/doctor';
import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import { placedFiles } from '../../content/root-files/placed.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { type OpenDatabase, openDatabase, requireTables } from '../../platform/database/open.ts';
import { connectionFault } from '../../platform/database/unusable.ts';
import { say, sayCount } from '../../platform/language/say.ts';
import { listed, type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';
import { withPlacedFiles } from '../../platform/storage/in-place.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { openLibraryStorage } from '../storage/open.ts';
import { checkBytes, countFiles } from './bytes.ts';
import { examineAll } from './examine.ts';

const PROGRESS_EVERY_MS = 2000;

const marks: Readonly<Record<Check['status'], Sentence>> = {
  ok: sentence('ok'),
  warning: sentence('warning'),
  problem: sentence('PROBLEM'),
};
const MARK_WIDTH = 7;

/** Formats a check as lines of text, followed by the remedy. */
function linesOf(language: Language, { status, title, detail, remedy }: Check): string[] {
  const mark = saySentence(language, marks[status]).padEnd(MARK_WIDTH);
  const first = `${mark}  ${title}: ${detail}`;
  return remedy === null ? [first] : [first, `         ${remedy}`];
}

interface Arguments {
  bytes: boolean;
  repair: boolean;
  after: string;
}

function readArguments(args: string[]): Arguments {
  const { bytes, repair, after } = parsed(args);
  if (!bytes && (repair || after !== ''))
    throw new ConfigError(sentence('--repair and --after go with --bytes'));
  if (!/^([0-9a-f]{64})?$/.test(after))
    throw new ConfigError(sentence('--after takes a hash of 64 hex digits'));
  return { bytes, repair, after };
}

function parsed(args: string[]): Arguments {
  const options = {
    bytes: { type: 'boolean', default: false },
    repair: { type: 'boolean', default: false },
    after: { type: 'string', default: '' },
  } as const;
  return readOptions({ args, options }).values;
}

async function runChecks(
  { db }: Pick<OpenDatabase, 'db'>,
  config: Config,
  print: (line: string) => void,
): Promise<number> {
  const storage = withPlacedFiles(await openLibraryStorage(config), placedFiles(db));
  const searchPath = process.env.PATH ?? '';
  const checks = await examineAll({ db, storage, config, searchPath }, config.language);
  for (const line of checks.flatMap((check) => linesOf(config.language, check))) print(line);
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length;
  print(
    say(config.language, 'problems: {problems}, warnings: {warnings}, fine: {fine}', {
      problems: count('problem'),
      warnings: count('warning'),
      fine: count('ok'),
    }),
  );
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
  const { language } = config;
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  const all = await countFiles(db, after);
  let lastPrintedAt = Date.now();
  const progress = ({ files, bytes }: { files: number; bytes: number }) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    const percent = Math.floor((100 * bytes) / Math.max(1, all.bytes));
    console.error(
      sayCount(language, all.files, ['{percent} %, {files} of # file', '{percent} %, {files} of # files'], {
        percent,
        files,
      }),
    );
  };
  try {
    const report = await checkBytes(
      { db, storage },
      { after, repair, language, signal: stop.signal, print, progress },
    );
    const { files, bytes, lost, previews, repairing, stoppedAfter } = report;
    const summary = sayCount(
      language,
      files,
      [
        'checked: # file, {size}; lost: {lost}, with damaged previews: {previews}',
        'checked: # files, {size}; lost: {lost}, with damaged previews: {previews}',
      ],
      { size: sayCount(language, bytes, ['# byte', '# bytes']), lost, previews },
    );
    const again = say(language, 'being rendered again: {count}', { count: repairing });
    print(repairing > 0 ? listed(language, [summary, again]) : summary);
    if (lost > 0)
      print(
        say(language, 'Upload or import the lost files again, or restore them below library/ from a backup.'),
      );
    if (stoppedAfter !== null) {
      const options = stoppedAfter === '' ? '--bytes' : `--bytes --after ${stoppedAfter}`;
      print(say(language, 'stopped; go on with {options}', { options }));
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
    const { language } = config;
    const fault = say(language, 'Database: the database cannot be reached: {fault}', {
      fault: saySentence(language, connectionFault(error)),
    });
    print(`${saySentence(language, marks.problem)}  ${fault}`);
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
