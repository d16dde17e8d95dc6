import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { type Config, ConfigError } from '../../core/config.ts';
import { startEmbedded } from '../../platform/database/embedded.ts';
import { findBinaries } from '../../platform/database/embedded-binaries.ts';
import { FORMER_CLUSTER } from '../../platform/database/embedded-cluster.ts';
import { type InstanceLock, lockInstance } from '../../platform/database/instance-lock.ts';
import { createJobQueue } from '../../platform/database/migrate.ts';
import { openPool } from '../../platform/database/pool.ts';
import { syncDirectory } from '../../platform/files/directory-tree.ts';
import { type Sentence, saySentence, sentence } from '../../platform/language/sentence.ts';
import { readVersion } from '../../platform/version.ts';
import { enterLibrary } from '../library-place.ts';
import { readOptions } from '../options.ts';
import { openDirectory } from './directory.ts';
import { type Dump, dump, requireLibrary } from './dump.ts';
import { load } from './load.ts';
import { prepareRepository, type Repository } from './repository.ts';
import { analyze } from './restore.ts';

/** The directory of an upgrade in progress, in the data directory. */
const WORK = 'upgrade';
const ID = '20000101T000000Z';

export interface UpgradePlan {
  dataDir: string;
  /** Directories with the executables of PostgreSQL. */
  oldBinDir: string;
  newBinDir: string;
  databaseUid: number;
  log(message: string): void;
}

/** Runs the server of a cluster while `use` runs. */
async function withServer<T>(
  { databaseUid, log }: UpgradePlan,
  { dataDir, binDir, lock }: { dataDir: string; binDir: string; lock?: InstanceLock },
  use: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const server = await startEmbedded({
    dataDir,
    binDir,
    databaseUid,
    log,
    ...(lock === undefined ? {} : { lock }),
  });
  const opened = openPool(server.connection, 4, log);
  try {
    return await use(opened.pool);
  } finally {
    await opened.close();
    await server.stop();
  }
}

async function withClient<T>(pool: pg.Pool, use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(client);
  } finally {
    client.release(true);
  }
}

/** Copies every row of the old cluster into a new one in the work directory. */
async function copyRows(plan: UpgradePlan, lock: InstanceLock, repository: Repository): Promise<void> {
  const { dataDir, oldBinDir, newBinDir } = plan;
  const work = join(dataDir, WORK);
  const rows = await withServer(plan, { dataDir, binDir: oldBinDir, lock }, (pool) =>
    withClient(pool, async (client): Promise<Dump> => {
      await requireLibrary(client);
      return dump(client, repository, ID, join(work, 'files'), 'all');
    }),
  );
  // The new cluster gets the password of the old one.
  await copyFile(join(dataDir, 'postgres.secret'), join(work, 'postgres.secret'));
  await withServer(plan, { dataDir: work, binDir: newBinDir }, async (pool) => {
    await createJobQueue(pool);
    await withClient(pool, async (client) => {
      await client.query('begin');
      await load(client, repository, { id: ID, resized: [], ...rows });
      await client.query('commit');
    });
    await analyze(pool);
  });
}

/** Undoes the first half of a swap that was interrupted. */
async function undoSwap(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, 'postgres')) || !existsSync(join(dataDir, FORMER_CLUSTER))) return;
  await rename(join(dataDir, FORMER_CLUSTER), join(dataDir, 'postgres'));
  await syncDirectory(dataDir);
}

/**
 * Moves the library's embedded database to another version of PostgreSQL: copies every row into a new cluster and puts
 * it in place of the old one, which is kept beside it. Files of the library are not touched. An interruption
 * leaves the old cluster in use, or prevents every start until the upgrade runs again (RUN-18).
 */
export async function upgradeCluster(plan: UpgradePlan): Promise<void> {
  const { dataDir } = plan;
  const work = join(dataDir, WORK);
  const lock = lockInstance(dataDir);
  try {
    await undoSwap(dataDir);
    await rm(work, { recursive: true, force: true });
    // PostgreSQL's user has to traverse it; its contents are private.
    await mkdir(work);
    await chmod(work, 0o711);
    const target = await openDirectory(join(work, 'rows'), true);
    const rows = await target.lock();
    try {
      await copyRows(plan, lock, await prepareRepository(target, null, null));
    } finally {
      rows.release();
    }
    await rm(join(dataDir, FORMER_CLUSTER), { recursive: true, force: true });
    await rename(join(dataDir, 'postgres'), join(dataDir, FORMER_CLUSTER));
    await rename(join(work, 'postgres'), join(dataDir, 'postgres'));
    await syncDirectory(dataDir);
    await rm(work, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}

/** Returns the major version of the executables in a directory. */
async function majorOf(binDir: string): Promise<string> {
  const { stdout } = await promisify(execFile)(join(binDir, 'postgres'), ['--version']).catch(
    (error: unknown) => {
      throw new ConfigError(
        sentence('there is no working PostgreSQL in {directory}: {reason}', {
          directory: binDir,
          reason: String(error).split('\n')[0] ?? '',
        }),
      );
    },
  );
  return /\) (\d+)/.exec(stdout)?.[1] ?? stdout.trim();
}

/** Returns the executables in `from`: the directory `bin` of an installation, or of the npm package. */
async function findOld(dataDir: string, from: string): Promise<string> {
  const binDir = resolve(from);
  const native = dirname(binDir);
  const isPackage = basename(native) === 'native' && existsSync(join(native, 'pg-symlinks.json'));
  return isPackage ? findBinaries(dataDir, { native }) : binDir;
}

function readArguments(args: string[]): { from: string | null; discard: boolean } {
  const options = { from: { type: 'string' }, 'discard-old': { type: 'boolean', default: false } } as const;
  const { values } = readOptions({ args, options });
  return { from: values.from ?? null, discard: values['discard-old'] };
}

type Tell = (line: Sentence) => void;

async function discardOld(dataDir: string, tell: Tell): Promise<void> {
  const lock = lockInstance(dataDir);
  try {
    if (!existsSync(join(dataDir, 'postgres')))
      throw new ConfigError(sentence('there is no database in {directory}', { directory: dataDir }));
    await rm(join(dataDir, FORMER_CLUSTER), { recursive: true, force: true });
    tell(sentence('removed the former database'));
  } finally {
    lock.release();
  }
}

/**
 * `vitrine upgrade --from BIN`: moves a stopped library to the PostgreSQL of this installation. `vitrine upgrade
 * --discard-old` removes the former database.
 */
export async function upgradeCommand(
  config: Config,
  args: string[],
  print: (line: string) => void,
): Promise<void> {
  const { from, discard } = readArguments(args);
  const tell: Tell = (line) => print(saySentence(config.language, line));
  const { dataDir, postgresUid: databaseUid } = config;
  if (config.databaseUrl !== null) {
    throw new ConfigError(sentence('DATABASE_URL is set: upgrade that PostgreSQL with its own tools'));
  }
  enterLibrary(config);
  if (discard) return discardOld(dataDir, tell);
  const place = existsSync(join(dataDir, 'postgres')) ? 'postgres' : FORMER_CLUSTER;
  const version = await readFile(join(dataDir, place, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null)
    throw new ConfigError(
      sentence('there is no library in {directory}; set VITRINE_DATA to where it is', { directory: dataDir }),
    );
  const old = version.trim();
  const newBinDir = config.postgresBinDir ?? (await findBinaries(dataDir));
  const current = await majorOf(newBinDir);
  if (old === current) {
    tell(sentence('the library has PostgreSQL {version} already', { version: current }));
    return;
  }
  if (from === null) {
    throw new ConfigError(
      sentence('say where PostgreSQL {version} is: {command}; see docs/operations.md', {
        version: old,
        command: 'vitrine upgrade --from BIN',
      }),
    );
  }
  const oldBinDir = await findOld(dataDir, from);
  const found = await majorOf(oldBinDir);
  if (found !== old)
    throw new ConfigError(
      sentence('{directory} has PostgreSQL {found}, but the library needs {needed}', {
        directory: from,
        found,
        needed: old,
      }),
    );
  tell(
    sentence('copying the database from PostgreSQL {old} to {current}, with Vitrine {version}', {
      old,
      current,
      version: readVersion(),
    }),
  );
  await upgradeCluster({ dataDir, oldBinDir, newBinDir, databaseUid, log: () => {} });
  tell(
    sentence('done; the former database is in {directory}, and {command} removes it', {
      directory: FORMER_CLUSTER,
      command: 'vitrine upgrade --discard-old',
    }),
  );
}
