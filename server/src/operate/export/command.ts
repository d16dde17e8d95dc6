import type { Language } from '@vitrine/contract/languages';
import { foldName } from '@vitrine/contract/names';
import type { SignedIn } from '../../access/caller.ts';
import { callerOf } from '../../access/caller-of.ts';
import { type Config, ConfigError } from '../../core/config.ts';
import { openDatabase } from '../../platform/database/open.ts';
import type { Database } from '../../platform/database/pool.ts';
import { sayCount } from '../../platform/language/say.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { openLibraryStorage } from '../storage/open.ts';
import type { Written } from './bag/directory.ts';
import { writeExport } from './library.ts';
import { LEFT_OUT, printLost, reporting } from './output.ts';

type Print = (line: string) => void;

function parse(args: string[]): { directory: string; user: string | undefined } {
  const { values, positionals } = readOptions({
    args,
    allowPositionals: true,
    options: { user: { type: 'string' } },
  });
  const [directory, more] = positionals;
  if (directory !== undefined && more === undefined) return { directory, user: values.user };
  throw new ConfigError(sentence('name a directory: {command}', { command: 'vitrine export DIR' }));
}

/** Returns the account with this name, with its rights. Throws a ConfigError if there is none that is active. */
async function findPerson(db: Database, name: string): Promise<SignedIn> {
  const row = await db
    .selectFrom('users')
    .select('ref')
    .where('username_key', '=', foldName(name))
    .executeTakeFirst();
  const caller = row === undefined ? null : await callerOf(db, row.ref);
  if (caller === null) throw new ConfigError(sentence('no active user {name}', { name }));
  return caller;
}

function printResult(
  language: Language,
  { files, written, unchanged, removed, lost }: Written,
  directory: string,
  print: Print,
): void {
  const counts = { written, unchanged, removed };
  const all = sayCount(
    language,
    files,
    [
      '# file; {written} written, {unchanged} unchanged, {removed} removed',
      '# files; {written} written, {unchanged} unchanged, {removed} removed',
    ],
    counts,
  );
  print(`${directory}: ${all}`);
  printLost(language, lost, print);
  if (lost.length === 0) return;
  print(
    sayCount(
      language,
      lost.length,
      [
        '# file could not be exported; {command} says whose',
        '# files could not be exported; {command} says whose they are',
      ],
      { command: '`vitrine doctor --bytes`' },
    ),
  );
}

/**
 * `vitrine export DIR [--user NAME]`, on a running or stopped library. Returns the exit code: 3 when files could not be
 * exported.
 */
export async function exportCommand(config: Config, args: string[], print: Print): Promise<number> {
  const { directory, user } = parse(args);
  enterLibrary(config);
  const database = await openDatabase(config, { join: true, log: (message) => console.error(message) });
  try {
    const storage = await openLibraryStorage(config);
    const caller = user === undefined ? null : await findPerson(database.db, user);
    const report = reporting<Written>(({ files, written: made }) =>
      sayCount(
        config.language,
        files,
        ['# file, {made} of them written', '# files, {made} of them written'],
        { made },
      ),
    );
    const written = await writeExport(database.db, storage, directory, caller, report);
    printResult(config.language, written, directory, print);
    return written.lost.length > 0 ? LEFT_OUT : 0;
  } finally {
    await database.close();
  }
}
