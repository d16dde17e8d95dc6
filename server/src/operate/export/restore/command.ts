import { type Config, ConfigError } from '../../../core/config.ts';
import { openDatabase } from '../../../platform/database/open.ts';
import { enterEmptyPlace } from '../../library-place.ts';
import { openLibraryStorage } from '../../storage/open.ts';
import { finishImport, importLibrary } from './library.ts';

const PROGRESS_EVERY_MS = 2000;
/** How many lost files are named. */
const NAMED = 20;
/** Exit status when something was left out, which the output names. */
const LEFT_OUT = 3;

function reporting(): (files: number) => void {
  let lastPrintedAt = Date.now();
  return (files) => {
    if (Date.now() - lastPrintedAt < PROGRESS_EVERY_MS) return;
    lastPrintedAt = Date.now();
    console.error(`stored ${files} files`);
  };
}

/**
 * `vitrine import-export DIR`: restores the export of a library into a new or empty one. Returns the exit code: 3 when
 * files are missing.
 */
export async function importExportCommand(
  config: Config,
  [directory, more]: readonly string[],
  print: (line: string) => void,
): Promise<number> {
  if (directory === undefined || directory.startsWith('-') || more !== undefined)
    throw new ConfigError('name the directory of an export: vitrine import-export DIR');
  enterEmptyPlace(config);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  try {
    const storage = await openLibraryStorage(config);
    const { rows, pruned, lost } = await importLibrary(database.pool, storage, directory, reporting());
    await finishImport(database.pool);
    print(`imported ${rows} rows from ${directory}`);
    if (pruned > 0) print(`${pruned} rows were left out: they belong to content of other libraries`);
    for (const { path, reason } of lost.slice(0, NAMED)) print(`LOST     ${path}: ${reason}`);
    print(
      'Previews are made once the library runs. An export has no passwords: vitrine admin reset-password NAME sets one.',
    );
    return lost.length > 0 ? LEFT_OUT : 0;
  } finally {
    await database.close();
  }
}
