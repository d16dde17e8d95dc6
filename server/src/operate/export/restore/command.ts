import { type Config, ConfigError } from '../../../core/config.ts';
import { openDatabase } from '../../../platform/database/open.ts';
import { say, sayCount } from '../../../platform/language/say.ts';
import { sentence } from '../../../platform/language/sentence.ts';
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
    throw new ConfigError(
      sentence('name the directory of an export: {command}', { command: 'vitrine import-export DIR' }),
    );
  const { language } = config;
  enterEmptyPlace(config);
  const database = await openDatabase(config, { join: true, migrate: false, log: () => {} });
  try {
    const storage = await openLibraryStorage(config);
    const report = reporting<number>((files) =>
      sayCount(language, files, ['stored # file', 'stored # files']),
    );
    const { rows, pruned, lost } = await importLibrary(database.pool, storage, directory, report);
    await finishImport(database.pool);
    print(
      sayCount(language, rows, ['imported # row from {directory}', 'imported # rows from {directory}'], {
        directory,
      }),
    );
    if (pruned > 0)
      print(
        sayCount(language, pruned, [
          '# row was left out: it belongs to content of another library',
          '# rows were left out: they belong to content of other libraries',
        ]),
      );
    printLost(language, lost, print);
    print(
      say(
        language,
        'Previews are made once the library runs. An export has no passwords: {command} sets one.',
        { command: '`vitrine admin reset-password NAME`' },
      ),
    );
    return lost.length > 0 ? LEFT_OUT : 0;
  } finally {
    await database.close();
  }
}
