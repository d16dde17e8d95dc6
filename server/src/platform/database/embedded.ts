import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import {
  access,
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { databaseUser, reachableByDatabaseUser, type SystemUser } from './database-user.ts';
import { findBinaries } from './embedded-binaries.ts';
import { type InstanceLock, LibraryInUse, lockInstance } from './instance-lock.ts';

export { LibraryInUse };

export interface EmbeddedConnection {
  /** The directory of the unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
}

export interface EmbeddedDatabase {
  connection: EmbeddedConnection;
  /** When the server ends, expected or not. */
  exited: Promise<void>;
  /** Stops the server and gives the library free. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  /** Directory with initdb and postgres; without it the ones from npm. */
  binDir?: string;
  /** PostgreSQL settings over our own. */
  settings?: Record<string, string>;
  log(message: string): void;
}

const PORT = 5432;
/** A unix socket's path holds 107 bytes. */
const LONGEST_SOCKET = 100;
const START_WITHIN_MS = 20_000;

const defaults: Record<string, string> = {
  listen_addresses: '',
  fsync: 'on',
  max_connections: '60',
  shared_buffers: '160MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  random_page_cost: '1.1',
  jit: 'off',
  log_min_messages: 'warning',
  TimeZone: 'UTC',
};

/** How to reach the server that a process of ours runs on this data directory. */
export function embeddedConnection(dataDir: string): EmbeddedConnection {
  const cluster = join(dataDir, 'postgres');
  const tooLong = Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}.lock`)) > LONGEST_SOCKET;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return {
    host: tooLong ? join(tmpdir(), `vitrine-${digest}`) : cluster,
    port: PORT,
    user: 'vitrine',
    database: 'vitrine',
  };
}

/** The socket's directory, when it is not the cluster's own: private, and ours, whoever made it before. */
async function makeSocketDirectory(directory: string, user: SystemUser | null): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  const found = await lstat(directory);
  const owners = [process.getuid?.(), user?.uid];
  if (!found.isDirectory() || !owners.includes(found.uid))
    throw new Error(`${directory} belongs to somebody else`);
  await chmod(directory, 0o700);
  if (user !== null) await chown(directory, user.uid, user.gid);
}

function runAs(user: SystemUser | null) {
  return user === null ? {} : { uid: user.uid, gid: user.gid };
}

/** No locale of the machine's is relied on, and no setting of the caller's PostgreSQL client. */
const plainEnvironment = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };

async function runInitdb(binDir: string, cluster: string, user: SystemUser | null): Promise<void> {
  const options = [
    '--username=vitrine',
    '--auth=trust',
    '--encoding=UTF8',
    '--no-instructions',
    '--locale=C',
  ];
  const locale = ['--locale-provider=icu', '--icu-locale=und'];
  const child = spawn(join(binDir, 'initdb'), ['-D', cluster, ...options, ...locale], {
    ...runAs(user),
    env: plainEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => output.push(String(chunk)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`initdb failed: ${output.join('').trim().split('\n').slice(-3).join(' / ')}`);
}

/** Makes the cluster where there is none: in a directory beside it that is renamed when it is whole. */
async function createCluster(binDir: string, dataDir: string, user: SystemUser | null): Promise<void> {
  const cluster = join(dataDir, 'postgres');
  const leftovers = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'));
  for (const name of leftovers) await rm(join(dataDir, name), { recursive: true, force: true });
  const exists = await access(join(cluster, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
  if (exists) return;
  const fresh = join(dataDir, `postgres.new-${process.pid}`);
  await mkdir(fresh, { mode: 0o700 });
  if (user !== null) await chown(fresh, user.uid, user.gid);
  await runInitdb(binDir, fresh, user);
  await rename(fresh, cluster);
}

/** A server that outlived its Node: nobody but us may own this cluster now, so it is asked to stop. */
async function stopOrphan(cluster: string): Promise<void> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (directory === cluster) process.kill(pid, 'SIGINT');
}

/** Stops PostgreSQL when we are gone: it reads a pipe that only our death closes. */
function guard(pid: number): ChildProcess {
  const script = 'read -r _; kill -INT "$1" 2>/dev/null; sleep 15; kill -QUIT "$1" 2>/dev/null';
  const child = spawn('/bin/sh', ['-c', script, 'vitrine-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  child.on('error', () => {});
  child.unref();
  return child;
}

async function answers(connection: EmbeddedConnection): Promise<boolean> {
  const client = new pg.Client({ ...connection, database: 'postgres', connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const found = await client.query('select from pg_database where datname = $1', [connection.database]);
    if (found.rowCount === 0) await client.query(`create database ${connection.database}`);
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function lastLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-3).join(' / ');
}

/** Starts a server on the cluster and waits until it answers; null when it ended instead. */
async function launch(
  binDir: string,
  cluster: string,
  connection: EmbeddedConnection,
  settings: Record<string, string>,
  user: SystemUser | null,
  logFile: string,
): Promise<{ child: ChildProcess; exited: Promise<void> } | null> {
  const logFd = openSync(logFile, 'a');
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    join(binDir, 'postgres'),
    ['-D', cluster, '-p', String(PORT), '-k', connection.host, ...given],
    {
      ...runAs(user),
      env: plainEnvironment,
      // In a session of its own: Ctrl-C is for us, and we stop it in order.
      detached: true,
      stdio: ['ignore', logFd, logFd],
    },
  );
  closeSync(logFd);
  let ended = false;
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      resolve();
    };
    child.once('error', end);
    child.once('exit', end);
  });
  while (!ended) {
    if (await answers(connection)) return { child, exited };
    await sleep(20);
  }
  return null;
}

async function startLocked(options: EmbeddedOptions, lock: InstanceLock): Promise<EmbeddedDatabase> {
  const { dataDir, log } = options;
  const user = databaseUser();
  if (!reachableByDatabaseUser(dataDir)) {
    throw new Error(
      `PostgreSQL does not run as root, and its user cannot reach ${dataDir}; set VITRINE_DATA elsewhere`,
    );
  }
  const binDir = options.binDir ?? (await findBinaries(dataDir));
  const cluster = join(dataDir, 'postgres');
  const connection = embeddedConnection(dataDir);
  await createCluster(binDir, dataDir, user);
  if (connection.host !== cluster) await makeSocketDirectory(connection.host, user);
  const logFile = join(dataDir, 'postgres.log');
  if (((await stat(logFile).catch(() => null))?.size ?? 0) > 10 * 1024 * 1024) await rm(logFile);
  await stopOrphan(cluster);
  const settings = { ...defaults, ...options.settings };
  const deadline = Date.now() + START_WITHIN_MS;
  for (;;) {
    const started = await launch(binDir, cluster, connection, settings, user, logFile);
    if (started !== null) return supervise(started, connection, lock, log);
    // After a kill the old server's memory and pid file take a moment to go.
    if (Date.now() > deadline) throw new Error(`PostgreSQL does not start: ${await lastLines(logFile)}`);
    await sleep(300);
  }
}

function supervise(
  { child, exited }: { child: ChildProcess; exited: Promise<void> },
  connection: EmbeddedConnection,
  lock: InstanceLock,
  log: (message: string) => void,
): EmbeddedDatabase {
  const watcher = child.pid === undefined ? null : guard(child.pid);
  let stopping: Promise<void> | null = null;
  void exited.then(() => {
    watcher?.kill('SIGKILL');
    if (stopping === null) log('the embedded PostgreSQL ended unexpectedly');
  });
  return {
    connection,
    exited,
    stop() {
      stopping ??= (async () => {
        child.kill('SIGINT');
        const slow = setTimeout(() => child.kill('SIGQUIT'), 20_000);
        await exited;
        clearTimeout(slow);
        lock.release();
      })();
      return stopping;
    },
  };
}

/**
 * Starts PostgreSQL on `<dataDir>/postgres`, creating it when there is none, and supervises it: it stops with us,
 * also when we are killed. Throws LibraryInUse when another process runs on this directory.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const lock = await lockInstance(options.dataDir);
  try {
    return await startLocked(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}
