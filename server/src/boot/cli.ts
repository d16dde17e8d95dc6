import { inspect } from 'node:util';
import { type Language, languageFor, languages } from '@vitrine/contract/languages';
import { type Config, ConfigError, readConfig } from '../core/config.ts';
import { BackupError } from '../operate/backup/target.ts';
import { ExportError } from '../operate/export/bag/paths.ts';
import { enterLibrary, enterToStart } from '../operate/library-place.ts';
import { helpFor } from '../operate/usage.ts';
import { LibraryInUse } from '../platform/database/instance-lock.ts';
import { DatabaseUnusable } from '../platform/database/unusable.ts';
import { redact } from '../platform/http/redact.ts';
import { languageOfCommands } from '../platform/language/command-line.ts';
import { say } from '../platform/language/say.ts';
import { sayError, sentence } from '../platform/language/sentence.ts';
import { StorageUnavailable } from '../platform/storage/storage.ts';

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
    () => new ConfigError(sentence('the embedded PostgreSQL ended; see postgres.log in the data directory')),
  );
  const failure = await Promise.race([signalled, lost, running.failed]);
  first ??= performance.now();
  await running.stop();
  if (failure !== null) throw failure;
}

async function start(config: Config): Promise<void> {
  enterToStart(config);
  const running =
    config.processes === 1
      ? await (await import('./main.ts')).startServing(config)
      : await (await import('./processes.ts')).startProcesses(config);
  const { config: own, db } = running.deps;
  const { pendingSetupCode } = await import('../operate/set-up/first-run.ts');
  const { needsSetup } = await import('../operate/set-up/first-administrator.ts');
  const code = await pendingSetupCode(running.deps);
  const { language } = config;
  console.log(say(language, 'the library is in {directory}', { directory: own.dataDir }));
  if (code !== null)
    console.log(
      say(language, 'to set up this library, open it in a browser and enter the code {code}', { code }),
    );
  else if (await needsSetup(db))
    console.log(say(language, 'this library is empty; open the address in a browser to set it up'));
  // Scripts wait for this line, which is the same in every language.
  console.log(`listening on ${running.url}`);
  const { reportAtStart } = await import('../operate/doctor/at-start.ts');
  const { log } = running.deps;
  // A stop may close the database meanwhile.
  reportAtStart(running.deps).catch((error: unknown) =>
    log.debug({ err: error }, 'checks of the start failed'),
  );
  await untilStopped(running);
}

async function work(config: Config): Promise<void> {
  enterLibrary(config);
  const { startWorking } = await import('./main.ts');
  const running = await startWorking(config, { join: true, port: config.workerPort });
  const { language } = config;
  console.log(
    running.url === null
      ? say(language, 'working on jobs')
      : say(language, 'working on jobs, health and metrics on {url}', { url: running.url }),
  );
  await untilStopped(running);
}

/** Takes `--lang TAG` out of the arguments. Throws a ConfigError for a language without texts. */
function takeLanguage(args: readonly string[]): { args: string[]; language: Language | null } {
  const end = args.indexOf('--');
  const at = args.findIndex(
    (arg, place) => (end === -1 || place < end) && (arg === '--lang' || arg.startsWith('--lang=')),
  );
  const [option = '', next = ''] = at === -1 ? [] : args.slice(at);
  if (option === '') return { args: [...args], language: null };
  const isJoined = option.includes('=');
  const tag = isJoined ? option.slice('--lang='.length) : next;
  const language = languageFor(tag);
  if (language === undefined)
    throw new ConfigError(
      sentence('--lang {tag}: there are texts in {languages}', { tag, languages: languages.join(', ') }),
    );
  return { args: args.toSpliced(at, isJoined ? 1 : 2), language };
}

/** Throws a ConfigError if a command that takes no arguments has some, such as a misspelled option. */
function refuseArguments(command: string, [first]: readonly string[]): void {
  if (first !== undefined)
    throw new ConfigError(
      sentence('vitrine {command} takes no arguments, not {argument}', {
        command,
        argument: JSON.stringify(first),
      }),
    );
}

async function run(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const help = helpFor(args, languageOfCommands(env));
  if (help !== null) return console.log(help);
  const [command = '', ...rest] = args;
  const config = () => readConfig(env, process.cwd());
  if (['start', 'worker', 'demo', 'schema'].includes(command)) refuseArguments(command, rest);
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
      const { importCommand } = await import('../operate/import/command.ts');
      const { openDeps } = await import('./service.ts');
      const { startWorkerFor } = await import('./worker.ts');
      return importCommand(config(), rest, { openDeps, startWorker: startWorkerFor });
    }
    case 'import-users': {
      const { importUsersCommand } = await import('../operate/import/users/command.ts');
      process.exitCode = await importUsersCommand(config(), rest, process.env.MYSQL_PWD, console);
      return;
    }
    case 'import-resourcespace': {
      const { importResourceSpaceCommand } = await import('../operate/resourcespace/command.ts');
      const { openDeps } = await import('./service.ts');
      const { startWorkerFor } = await import('./worker.ts');
      process.exitCode = await importResourceSpaceCommand(config(), rest, {
        mysqlPassword: process.env.MYSQL_PWD,
        output: console,
        openDeps,
        startWorker: startWorkerFor,
      });
      return;
    }
    case 'import-immich': {
      const { importImmichCommand } = await import('../operate/immich/command.ts');
      const { openDeps } = await import('./service.ts');
      const { startWorkerFor } = await import('./worker.ts');
      process.exitCode = await importImmichCommand(config(), rest, {
        apiKey: process.env.IMMICH_API_KEY,
        output: console,
        openDeps,
        startWorker: startWorkerFor,
      });
      return;
    }
    case 'export': {
      const { exportCommand } = await import('../operate/export/command.ts');
      process.exitCode = await exportCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'import-export': {
      const { importExportCommand } = await import('../operate/export/restore/command.ts');
      process.exitCode = await importExportCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'doctor': {
      const { doctorCommand } = await import('../operate/doctor/command.ts');
      process.exitCode = await doctorCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'backup': {
      const { backupCommand } = await import('../operate/backup/command.ts');
      process.exitCode = await backupCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'storage': {
      const { storageCommand } = await import('../operate/storage/command.ts');
      process.exitCode = await storageCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'roots': {
      const { rootsCommand } = await import('../operate/roots/command.ts');
      const { openDeps } = await import('./service.ts');
      process.exitCode = await rootsCommand(config(), rest, openDeps, (line) => console.log(line));
      return;
    }
    case 'admin': {
      const { adminCommand } = await import('../operate/accounts/command.ts');
      const { openInstallPasswords } = await import('./service.ts');
      process.exitCode = await adminCommand(config(), rest, openInstallPasswords, (line) =>
        console.log(line),
      );
      return;
    }
    case 'secret': {
      const { secretCommand } = await import('../operate/secret/command.ts');
      process.exitCode = await secretCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'restore': {
      const { restoreCommand } = await import('../operate/backup/command.ts');
      process.exitCode = await restoreCommand(config(), rest, (line) => console.log(line));
      return;
    }
    case 'upgrade': {
      const { upgradeCommand } = await import('../operate/backup/upgrade.ts');
      return upgradeCommand(config(), rest, (line) => console.log(line));
    }
    case 'demo': {
      const { demoCommand } = await import('../operate/demo/command.ts');
      const { startServing } = await import('./main.ts');
      return demoCommand(config(), startServing, untilStopped);
    }
    case 'schema': {
      const { schemaCommand } = await import('../operate/schema.ts');
      return schemaCommand(config());
    }
    default:
      throw new ConfigError(
        sentence('there is no command {command}; vitrine --help lists them', {
          command: JSON.stringify(command),
        }),
      );
  }
}

let { env } = process;
try {
  const { args, language } = takeLanguage(process.argv.slice(2));
  if (language !== null) env = { ...env, LC_ALL: language };
  await run(args, env);
} catch (error) {
  // Errors that the operator can fix are printed on one line; any other keeps its stack.
  const isWorded =
    error instanceof ConfigError ||
    error instanceof LibraryInUse ||
    error instanceof DatabaseUnusable ||
    error instanceof BackupError ||
    error instanceof ExportError ||
    error instanceof StorageUnavailable;
  console.error(redact(isWorded ? sayError(languageOfCommands(env), error) : inspect(error)));
  process.exitCode = 1;
} finally {
  setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
}
