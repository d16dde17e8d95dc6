import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, statSync } from 'node:fs';
import { constants, mkdir, open, readdir, rm, rmdir, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sentenceOfError } from '../faults/worded-errors.ts';
import { sentence, WordedError } from '../language/sentence.ts';
import {
  chooseDatabaseUsers,
  DATABASE_UID,
  type DatabaseUsers,
  makeReachable,
  reachableByDatabaseUser,
  type SystemUser,
} from './database-user.ts';
import { findBinaries, whyNotRun } from './embedded-binaries.ts';
import { prepareCluster } from './embedded-cluster.ts';
import { clearOrphan, execFailure, guard, readPid, reporting } from './embedded-orphan.ts';
import { keepReserve, releaseReserve } from './embedded-reserve.ts';
import { keepRunning, type ServerExit } from './embedded-restart.ts';
import { BOOTSTRAP_ROLE, demoteOwnRole, ROLE, runAs } from './embedded-role.ts';
import { keepSecret, readSecret, replaceFile, verifierOf } from './embedded-secret.ts';
import { type InstanceLock, LibraryInUse, lockInstance } from './instance-lock.ts';
import { named } from './name.ts';

export { BOOTSTRAP_ROLE, LibraryInUse };

export interface EmbeddedConnection {
  /** The directory of the unix socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

export interface EmbeddedDatabase {
  connection: EmbeddedConnection;
  /** Resolves when the server was stopped, or has ended and cannot be kept running. */
  exited: Promise<ServerExit>;
  /** Stops the server and releases the library. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  dataDir: string;
  /** Directory with initdb and postgres; defaults to the ones from npm. */
  binDir?: string;
  /** Created when it does not exist; defaults to `vitrine`. */
  database?: string;
  /** As root: the uid and gid that run PostgreSQL, unless in use; defaults to `DATABASE_UID`. */
  databaseUid?: number;
  /** PostgreSQL settings that override ours. */
  settings?: Record<string, string>;
  /** Number of restart attempts that may fail; defaults to 10. */
  restarts?: number;
  /** The lock of the library, if the caller holds it; then `stop` does not release it. */
  lock?: InstanceLock;
  log(message: string): void;
  /** Called when the server has been launched and does not accept connections yet, to do other work meanwhile. */
  onLaunch?(): void;
}

const PORT = 5432;
/** The longest path of a unix socket, in bytes. */
const LONGEST_SOCKET = 100;
const LONGEST_LOG = 10 * 1024 * 1024;
/** After a kill, the old server may take some seconds to disappear. */
const PREDECESSOR_GOES_WITHIN_MS = 20_000;
const OTHERS_RETRIED_FOR_MS = 2_000;
const SILENT_AT_MOST_MS = 60_000;

const defaults: Record<string, string> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  fsync: 'on',
  max_connections: '60',
  shared_buffers: '160MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  random_page_cost: '1.1',
  jit: 'off',
  // No superuser ever connects.
  superuser_reserved_connections: '0',
  log_min_messages: 'warning',
  TimeZone: 'UTC',
};

function isSocketPathTooLong(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}.lock`)) > LONGEST_SOCKET;
}

function shortDirectory(dataDir: string): string {
  const name = `vitrine-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const directory = join(tmpdir(), name);
  const usable = !isSocketPathTooLong(directory) && reachableByDatabaseUser(tmpdir());
  return usable ? directory : join('/tmp', name);
}

/**
 * Returns the directory of the socket: the cluster's own, or one in the temporary directory when that path is too long.
 */
export function socketDirectory(dataDir: string): string {
  const cluster = join(resolve(dataDir), 'postgres');
  return isSocketPathTooLong(cluster) ? shortDirectory(resolve(dataDir)) : cluster;
}

/**
 * Returns how to connect to the server that another Vitrine process runs on this data directory. Throws an Error of one
 * line when the password cannot be read, or when the socket's directory does not belong to the server's user, which
 * could otherwise receive the password.
 */
export function embeddedConnection(dataDir: string): EmbeddedConnection {
  const host = socketDirectory(dataDir);
  const cluster = join(resolve(dataDir), 'postgres');
  const password = readSecret(resolve(dataDir));
  const found = host === cluster ? undefined : lstatSync(host, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isDirectory() || found.uid !== statSync(cluster).uid)) {
    throw belongsToAnother(host);
  }
  return { host, port: PORT, user: ROLE, password, database: 'vitrine' };
}

const belongsToAnother = (directory: string) =>
  new WordedError(sentence('{directory} belongs to another user', { directory }));

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** Prepares the socket's directory outside the cluster: private and owned by us, even if another user created it. */
async function makeSocketDirectory(directory: string, users: DatabaseUsers | null): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(directory, flags).catch((error: unknown) => {
    if (hasCode(error, 'ELOOP', 'ENOTDIR', 'EACCES')) return null;
    throw error;
  });
  const owners = [process.getuid?.(), users?.runner.uid, users?.creator.uid];
  try {
    const owner = (await handle?.stat())?.uid;
    if (handle === null || !owners.includes(owner)) {
      throw belongsToAnother(directory);
    }
    await handle.chmod(0o700);
    if (users === null) return;
    await handle.chown(users.runner.uid, users.runner.gid);
    // A socket that a former owner left there could capture our password.
    if (owner === users.runner.uid) return;
    for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true });
  } finally {
    await handle?.close();
  }
}

/** Another first start may have created a directory a moment ago, and is about to make it accessible. */
async function becomesReachable(dataDir: string): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (reachableByDatabaseUser(dataDir)) return true;
    await sleep(100);
  }
  return reachableByDatabaseUser(dataDir);
}

async function makeDataDirectory(dataDir: string): Promise<void> {
  if (!(await becomesReachable(dataDir))) {
    throw new WordedError(
      sentence(
        'PostgreSQL does not run as root, and its user cannot reach {directory}; set VITRINE_DATA elsewhere',
        { directory: dataDir },
      ),
    );
  }
  await makeReachable(dataDir);
}

type Answer = 'ready' | 'superuser' | 'starting' | 'silent' | 'wrong password';

/** Returns whether the server rejected our password. */
class PasswordRefused extends WordedError {}

/**
 * Returns whether the server accepts connections to its database, which is created in a new cluster, and whether our role
 * is a superuser, as in older clusters; throws when waiting would not help.
 */
async function ask(server: EmbeddedConnection, database = server.database): Promise<Answer> {
  const client = new pg.Client(
    named({ ...server, database, ssl: false, connectionTimeoutMillis: 2000 }, 'start'),
  );
  client.on('error', () => {});
  try {
    await client.connect();
    if (database !== server.database)
      await client.query(`create database ${pg.escapeIdentifier(server.database)}`);
    // A replica cannot be changed.
    const { rows } = await client.query<{ rolsuper: boolean }>(
      'select rolsuper and not pg_is_in_recovery() as rolsuper from pg_roles where rolname = current_user',
    );
    return rows[0]?.rolsuper === true ? 'superuser' : 'ready';
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) return 'silent';
    // Class 57P: the server is starting, recovering or stopping.
    if (error.code?.startsWith('57P')) return 'starting';
    if (error.code === '28P01') return 'wrong password';
    const isMissing = error.code === '3D000' && database === server.database;
    if (isMissing) return ask(server, 'postgres');
    const message = sentence('PostgreSQL refused the connection: {reason}', {
      reason: sentenceOfError(error),
    });
    throw new WordedError(message, { cause: error });
  } finally {
    await client.end().catch(() => {});
  }
}

/** Returns the last lines written to the log since it had `from` bytes. */
async function lastLines(logFile: string, from: number): Promise<string> {
  const handle = await open(logFile, 'r');
  try {
    const { size } = await handle.stat();
    const start = Math.max(from, size - 4096);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, start);
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-3).join(' / ');
  } finally {
    await handle.close();
  }
}

interface Server {
  child: ChildProcess;
  exited: Promise<ServerExit>;
  /** How it ended, if it has. */
  exit: ServerExit | null;
  /** Why it could not be executed. */
  failure: Error | null;
  /** Whether our role is a superuser, which is known once the server is ready. */
  hasSuperuser: boolean;
}

interface Plan {
  dataDir: string;
  binDir: string;
  cluster: string;
  connection: EmbeddedConnection;
  settings: Record<string, string>;
  user: SystemUser | null;
  logFile: string;
  restarts: number | undefined;
  log(message: string): void;
  onLaunch(): void;
}

/** A setting that is a list of directories needs quotes around one with commas or spaces. */
function quoteDirectory(directory: string): string {
  return `"${directory.replaceAll('"', '""')}"`;
}

function launch({ binDir, cluster, connection, settings, user, logFile, log }: Plan): Server {
  const logFd = openSync(logFile, 'a', 0o600);
  const access = { hba_file: join(cluster, 'pg_hba.conf'), ...settings };
  const given = Object.entries(access).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const place = ['-D', cluster, '-p', String(PORT), '-k', quoteDirectory(connection.host)];
  const watcher = guard((error) =>
    log(`PostgreSQL would keep running if this process were killed: ${error.message}`),
  );
  const child = spawn('/bin/sh', reporting(join(binDir, 'postgres'), [...place, ...given]), {
    ...runAs(user),
    // A session of its own: Ctrl-C is meant for us, and we stop it in order.
    detached: true,
    stdio: ['ignore', logFd, logFd, watcher.pipe],
  });
  closeSync(logFd);
  const { promise, resolve } = Promise.withResolvers<ServerExit>();
  const server: Server = { child, exited: promise, exit: null, failure: null, hasSuperuser: false };
  const recordExit = (exit: ServerExit) => {
    server.exit = exit;
    watcher.dismiss();
    resolve(exit);
  };
  child.once('error', (error) => {
    server.failure = error;
    if (child.pid === undefined) recordExit({ code: null, signal: null });
  });
  child.once('exit', (code, signal) => {
    server.failure = execFailure(code);
    recordExit({ code, signal });
  });
  return server;
}

async function end({ child, exited }: Server, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  const slow = setTimeout(() => child.kill('SIGQUIT'), 20_000);
  await exited;
  clearTimeout(slow);
}

/** Waits until the server accepts connections (true) or has ended (false). Crash recovery may take any time. */
async function untilReady(server: Server, { connection, cluster }: Plan): Promise<boolean> {
  let lastAnswerAt = Date.now();
  while (server.exit === null) {
    const answer = await ask(connection);
    // Until the pid file is ours, a predecessor may answer on the socket.
    const isOurs = (await readPid(join(cluster, 'postmaster.pid'))) === server.child.pid;
    if ((answer === 'ready' || answer === 'superuser') && isOurs) {
      server.hasSuperuser = answer === 'superuser';
      return true;
    }
    if (answer === 'wrong password' && isOurs)
      throw new PasswordRefused(sentence('PostgreSQL rejected the password'));
    if (answer !== 'silent') lastAnswerAt = Date.now();
    if (Date.now() - lastAnswerAt > SILENT_AT_MOST_MS)
      throw new WordedError(sentence('PostgreSQL runs but does not answer'));
    await sleep(20);
  }
  return false;
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}

/** Starts the server, and retries while the remains of a killed one are in its way. */
async function startServer(plan: Plan): Promise<Server> {
  const { binDir, cluster, connection, logFile } = plan;
  const lockFiles = [join(cluster, 'postmaster.pid'), join(connection.host, `.s.PGSQL.${PORT}.lock`)];
  const since = Date.now();
  for (;;) {
    const waited = Date.now() - since;
    await clearOrphan(cluster, lockFiles, waited < PREDECESSOR_GOES_WITHIN_MS / 2 ? 'SIGINT' : 'SIGQUIT');
    await releaseReserve(plan.dataDir);
    const logged = await sizeOf(logFile);
    const server = launch(plan);
    plan.onLaunch();
    try {
      if (await untilReady(server, plan)) return server;
    } catch (error) {
      await end(server, 'SIGINT');
      throw error;
    }
    const logTail = await lastLines(logFile, logged);
    const reason = whyNotRun(join(binDir, 'postgres'), server.failure, logTail);
    if (reason !== null) throw new WordedError(reason);
    const other = /initialized by PostgreSQL version (\d+)/.exec(logTail)?.[1];
    if (other !== undefined) {
      throw new WordedError(
        sentence('the database was made by PostgreSQL {version}; run vitrine upgrade', { version: other }),
      );
    }
    const inTheWay = /lock file .* already exists|another postmaster|still in use/.test(logTail);
    if (waited > (inTheWay ? PREDECESSOR_GOES_WITHIN_MS : OTHERS_RETRIED_FOR_MS)) {
      throw new WordedError(sentence('PostgreSQL does not start: {reason}', { reason: logTail }));
    }
    await sleep(300);
  }
}

/**
 * Sets our password on the server: in a library older than passwords, or after a new secret. During that moment the
 * server asks for none, but only its own user, who can read the files anyway, can enter the socket's directory. Only
 * the verifier is sent, so no log shows the password. Can be interrupted and repeated.
 */
async function setPassword(plan: Plan): Promise<void> {
  const { cluster, connection, settings, user } = plan;
  const name = 'pg_hba.set-password.conf';
  await replaceFile(cluster, name, `local all ${ROLE} trust\n`, user);
  const server = await startServer({
    ...plan,
    settings: { ...settings, hba_file: join(cluster, name) },
  });
  const client = new pg.Client(named({ ...connection, database: 'postgres', ssl: false }, 'start'));
  client.on('error', () => {});
  try {
    await client.connect();
    const verifier = pg.escapeLiteral(verifierOf(connection.password));
    await client.query(`alter role ${ROLE} password ${verifier}`);
  } finally {
    await client.end().catch(() => {});
    await end(server, 'SIGINT');
    await rm(join(cluster, name), { force: true });
  }
}

/** Starts the server with our password, after setting it when the server has another. */
async function startWithPassword(plan: Plan): Promise<Server> {
  try {
    return await startServer(plan);
  } catch (error) {
    if (!(error instanceof PasswordRefused)) throw error;
  }
  await setPassword(plan);
  return startServer(plan);
}

/** Makes our role an ordinary one, in a library of an earlier version. Can be interrupted and repeated. */
async function demoteOn({ connection, log }: Plan): Promise<void> {
  const client = new pg.Client(named({ ...connection, ssl: false }, 'start'));
  client.on('error', () => {});
  try {
    await client.connect();
    await demoteOwnRole(client, connection.database, verifierOf(connection.password));
  } catch (error) {
    // The library works as before; the doctor reports the superuser, and the next start tries again.
    log(
      `the role ${ROLE} of PostgreSQL remains a superuser: ${error instanceof Error ? error.message : error}`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}

function supervise(first: Server, plan: Plan, lock: InstanceLock): EmbeddedDatabase {
  const { dataDir, connection, cluster, log, restarts } = plan;
  const endReserve = keepReserve(dataDir);
  const { exited, stop } = keepRunning(first, {
    start: () => startServer(plan),
    end: (server) => end(server, 'SIGINT'),
    log,
    restarts,
  });
  let stopped: Promise<void> | null = null;
  return {
    connection,
    exited,
    stop() {
      stopped ??= (async () => {
        await endReserve();
        await releaseReserve(dataDir);
        await stop();
        if (connection.host !== cluster) await rmdir(connection.host).catch(() => {});
        lock.release();
      })();
      return stopped;
    },
  };
}

async function startLocked(
  options: EmbeddedOptions,
  dataDir: string,
  lock: InstanceLock,
): Promise<EmbeddedDatabase> {
  const binDir = options.binDir ?? (await findBinaries(dataDir));
  const users = await chooseDatabaseUsers(dataDir, binDir, options.databaseUid ?? DATABASE_UID);
  if (users !== null && users.shared !== null) {
    options.log(`PostgreSQL runs as nobody, whose other processes can read its files: ${users.shared}`);
  }
  const password = await keepSecret(dataDir);
  const cluster = await prepareCluster(binDir, dataDir, users, () => verifierOf(password));
  const host = socketDirectory(dataDir);
  if (host !== cluster) await makeSocketDirectory(host, users);
  const database = options.database ?? 'vitrine';
  const connection = { host, port: PORT, user: ROLE, password, database };
  const logFile = join(dataDir, 'postgres.log');
  if ((await sizeOf(logFile)) > LONGEST_LOG) await truncate(logFile);
  const settings = { ...defaults, ...options.settings };
  const user = users?.runner ?? null;
  const { log, restarts, onLaunch = () => {} } = options;
  const plan: Plan = {
    dataDir,
    binDir,
    cluster,
    connection,
    settings,
    user,
    logFile,
    restarts,
    log,
    onLaunch,
  };
  const server = await startWithPassword(plan);
  if (server.hasSuperuser) await demoteOn(plan);
  return supervise(server, plan, lock);
}

/**
 * Starts PostgreSQL on `<dataDir>/postgres`, creating it if needed, and supervises it: it stops with this process, even
 * if that is killed. Throws LibraryInUse when another process uses this directory, and an Error of one line when
 * PostgreSQL cannot start.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const dataDir = resolve(options.dataDir);
  await makeDataDirectory(dataDir);
  const lock = options.lock === undefined ? lockInstance(dataDir) : { release: () => {} };
  try {
    return await startLocked(options, dataDir, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}
