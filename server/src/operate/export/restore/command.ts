import { type Config, ConfigError } from '../../../core/config.ts';
import { openDatabase } from '../../../platform/database/open.ts';
import { enterEmptyPlace } from '../../library-place.ts';
import { openLibraryStorage } from '../../storage/open.ts';
import { LEFT_OUT, printLost, reporting } from '../output.ts';
import { finishImport, importLibrary } from './library.ts';

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
    const report = reporting<number>((files) => `stored ${files} files`);
    const { rows, pruned, lost } = await importLibrary(database.pool, storage, directory, report);
    await finishImport(database.pool);
    print(`imported ${rows} rows from ${directory}`);
    if (pruned > 0) print(`${pruned} rows were left out: they belong to content of other libraries`);
    printLost(lost, print);
    print(
      'Previews are made once the library runs. An export has no passwords: vitrine admin reset-password NAME sets one.',
    );
    return lost.length > 0 ? LEFT_OUT : 0;
  } finally {
    await database.close();
  }
}
