import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackupError } from './backup/target.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { LibraryInUse } from './platform/database/instance-lock.ts';
import { DatabaseUnusable } from './platform/database/unusable.ts';
import { StorageUnavailable } from './platform/storage/storage.ts';

const usage = `vitrine <command>

  start            serve the library, with a worker inside
  worker           work on jobs alone
  import DIR       make assets of every file below DIR   [--user NAME] [--post]
                   [--sensitivity posts|org|public|restricted]
  import-users     take the accounts of an earlier system: FILE.csv or --mysql URL [--table NAME]
                   [--role GROUP=ROLE]... [--dry-run]
  doctor           say what is wrong with the library and how to mend it; exit code 1 when there is a problem
                   [--bytes]: read every stored file and name what is lost
                   [--bytes --repair]: render missing and damaged previews again  [--after HASH]: go on from there
  backup DIR       add a backup to DIR, or to a bucket (s3://BUCKET/PREFIX); the library may be running
                   [--keep N] [--key-file FILE]
  backup list DIR, backup verify DIR
                   list the backups in DIR; read every byte of one   [--at ID] [--key-file FILE]
  restore DIR      restore a backup into an empty library            [--data NEW] [--at ID] [--key-file FILE]
  storage check    compare rows with stored files; exit code 1 when some are missing or wrong   [--content]
  storage move     move files to where new ones go: the bucket, or the disk with VITRINE_S3_WRITES=off
  storage gc       remove files that no row refers to    [--grace HOURS] [--dry-run]
  upgrade          move the embedded database to this PostgreSQL     --from BIN, later --discard-old
  demo             serve a sample library on its own data directory
  schema           write server/schema.sql and the table types from the migrations`;

/** npm forwards the Ctrl-C that the terminal has already sent to this process: both are one request to stop. */
const SAME_SIGNAL_MS = 300;
/** How long what remains after a command, such as an unfinished job or an open handle, may keep the process alive. */
const EXIT_WITHIN_MS = 500;

/**
 * Runs until a signal, the loss of the database or a failure, then stops in order; exits with 0 after a signal. A second
 * signal exits immediately with 1.
 */
async function untilStopped(running: {
  stop(): Promise<void>;
  database: { lost: Promise<void> };
  failed: Promise<unknown>;
}): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<null>();
  let first: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      first ??= performance.now();
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
      resolve(null);
    });
  }
  const lost = running.database.lost.then(
    () => new ConfigError('the embedded PostgreSQL ended; see postgres.log in the data directory'),
  );
  const failure = await Promise.race([signalled, lost, running.failed]);
  first ??= performance.now();
  await running.stop();
  if (failure !== null) throw failure;
}

async function start(config: Config): Promise<void> {
  const running =
    config.processes === 1
      ? await (await import('./main.ts')).startServing(config)
      : await (await import('./processes.ts')).startProcesses(config);
  const { pendingSetupCode } = await import('./identity/first-run.ts');
  const code = await pendingSetupCode(running.deps);
  if (code !== null) console.log(`to set up this library, open it in a browser and enter the code ${code}`);
  console.log(`listening on ${running.url}`);
  await untilStopped(running);
}

async function work(config: Config): Promise<void> {
  const { startWorking } = await import('./main.ts');
  const running = await startWorking(config, { join: true, port: config.workerPort });
  console.log(
    running.url === null ? 'working on jobs' : `working on jobs, health and metrics on ${running.url}`,
  );
  await untilStopped(running);
}

async function writeSchema(config: Config): Promise<void> {
  const { openDatabase } = await import('./platform/database/open.ts');
  const { describeSchema } = await import('./platform/database/describe.ts');
  const database = await openDatabase(config, { join: true, log: () => {} });
  const { sql, module } = await describeSchema(database.pool);
  writeFileSync(join(import.meta.dirname, '../schema.sql'), sql);
  writeFileSync(join(import.meta.dirname, 'platform/database/tables.ts'), module);
  await database.close();
}

async function run(args: string[]): Promise<void> {
  const [command, ...rest] = args;
  const config = () => readConfig(process.env, process.cwd());
  switch (command) {
    case 'start':
      return start(config());
    // Started by startProcesses, not by operators.
    case 'serve-beside': {
      const { serveInChild } = await import('./processes.ts');
      return untilStopped(await serveInChild(config()));
    }
    case 'worker':
      return work(config());
    case 'import': {
      const { importCommand } = await import('./import/command.ts');
      return importCommand(config(), rest);
    }
    case 'import-users': {
      const { importUsersCommand } = await import('./import/users/command.ts');
      process.exitCode = await importUsersCommand(config(), rest, process.env.MYSQL_PWD, console);
      return;
    }
    case 'doctor': {
      const { doctorCommand } = await import('./doctor/command.ts');
      process.exitCode = await doctorCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'backup': {
      const { backupCommand } = await import('./backup/command.ts');
      process.exitCode = await backupCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'storage': {
      const { storageCommand } = await import('./storage/command.ts');
      process.exitCode = await storageCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'restore': {
      const { restoreCommand } = await import('./backup/command.ts');
      process.exitCode = await restoreCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'upgrade': {
      const { upgradeCommand } = await import('./backup/upgrade.ts');
      return upgradeCommand(config(), rest, (line) => console.log(line));
    }
    case 'demo': {
      const { demoCommand } = await import('./demo/command.ts');
      return demoCommand(config(), untilStopped);
    }
    case 'schema':
      return writeSchema(config());
    default:
      console.log(usage);
      process.exitCode = command === undefined || command === 'help' ? 0 : 1;
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  // Errors that the operator can fix are printed on one line; any other keeps its stack.
  const isTold =
    error instanceof ConfigError ||
    error instanceof LibraryInUse ||
    error instanceof DatabaseUnusable ||
    error instanceof BackupError ||
    error instanceof StorageUnavailable;
  console.error(isTold ? error.message : error);
  process.exitCode = 1;
} finally {
  setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
}
