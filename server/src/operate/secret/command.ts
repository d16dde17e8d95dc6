import { type Config, ConfigError } from '../../core/config.ts';
import { type OwnKey, readKeyFile } from '../../people/identity/secret-key.ts';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { openDatabase, requireTables } from '../../platform/database/open.ts';
import { countLiveWorkers } from '../../platform/jobs/liveness.ts';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { type Rotation, rotateSecretKey } from './rotate.ts';

type Print = (line: string) => void;
type OpenDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Returns the file with the present key, if the arguments name one; throws a ConfigError. */
function readArguments(args: string[]): string | null {
  const { values, positionals } = readOptions({
    args,
    allowPositionals: true,
    options: { former: { type: 'string' } },
  });
  if (positionals.length === 1 && positionals[0] === 'rotate') return values.former ?? null;
  throw new ConfigError(sentence('choose a command: {command}', { command: 'vitrine secret rotate' }));
}

/**
 * Runs while no other process uses the library, and keeps others from starting. Throws a ConfigError if one runs: it
 * would seal secrets with the former key.
 */
async function whileStopped<T>({ pool, db }: OpenDatabase, run: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.migration]);
    const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
      advisoryLocks.presence,
    ]);
    if (rows[0]?.alone !== true || (await countLiveWorkers(db)) > 0)
      throw new ConfigError(
        sentence('processes of this library are running; stop all of them, also workers'),
      );
    return await run();
  } finally {
    // Closing the connection releases the locks.
    client.release(true);
  }
}

function report(
  { sealed, isFinished, source }: Rotation,
  former: OwnKey | null,
  tell: (line: Sentence) => void,
): void {
  if (sealed === null) {
    tell(
      isFinished
        ? sentence('finished a rotation that was interrupted; the key is in {source}', { source })
        : sentence(
            'everything is sealed with {source} already; to replace it, set {source} to a new key and name a file with the present one: {option}',
            { source, option: '--former FILE' },
          ),
    );
    return;
  }
  for (const { what, count } of sealed)
    if (count > 0) tell(sentence('sealed again: {what} ({count})', { what, count }));
  tell(
    sentence(
      'the new key is in {source}; every process needs it, and encrypted backups from now on contain it',
      {
        source,
      },
    ),
  );
  tell(
    former === null
      ? sentence('backups from before need the former key, which encrypted ones contain')
      : sentence('backups from before need the former key'),
  );
}

/** `vitrine secret rotate`, on a stopped library (RUN-54). Returns the exit code. */
export async function secretCommand(config: Config, args: string[], print: Print): Promise<number> {
  const file = readArguments(args);
  // Read first, because perhaps only the caller may read it.
  const former = file === null ? null : await readKeyFile(file);
  if (file !== null && former === null) throw new ConfigError(sentence('there is no file {file}', { file }));
  enterLibrary(config);
  // Joining the server of a running process would be refused below, less plainly.
  const database = await openDatabase(config, { join: false, migrate: false, log: () => {} });
  try {
    await requireTables(database.pool, config);
    // After an upgrade, no start may have migrated the tables yet.
    await migrate(database.pool);
    const rotation = await whileStopped(database, () => rotateSecretKey(database.db, config, former));
    report(rotation, former, (line) => print(saySentence(config.language, line)));
    return 0;
  } finally {
    await database.close();
  }
}
