import { type ChildProcess, spawn } from 'node:child_process';
import { access, chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  BOOTSTRAP_ROLE,
  type EmbeddedConnection,
  embeddedConnection,
  startEmbedded,
} from '@vitrine/server/embedded';
import { migrate } from '@vitrine/server/migrate';
import { type DatabasePool, openPool } from '@vitrine/server/pool';
import { startSession } from '@vitrine/server/sessions';
import pg from 'pg';
import { fillCorpus } from './corpus.ts';

const root = join(import.meta.dirname, '../..');
/** The directory of libraries kept between runs: BENCH_CACHE, or as root a place that PostgreSQL's user can reach. */
export const cacheDir =
  process.env.BENCH_CACHE ??
  (process.getuid?.() === 0 ? '/var/lib/vitrine-bench' : join(root, 'bench/.cache'));

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Allows the role of the library what fills and prepares it: skipping triggers, and checkpoints.
 */
async function grantToRole(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client({ ...connection, user: BOOTSTRAP_ROLE });
  await client.connect();
  await client.query(`grant set on parameter session_replication_role to ${connection.user}`);
  await client.query(`grant pg_checkpoint to ${connection.user}`);
  await client.end();
}

/** Returns the data directory of the library with this name, which `fill` creates once. */
export async function keptLibrary(name: string, fill: (pool: pg.Pool) => Promise<void>): Promise<string> {
  const directory = join(cacheDir, name);
  // A library in which the role of Vitrine was a superuser lacks the grants.
  const complete = join(directory, 'complete-with-grants');
  if (await isThere(complete)) return directory;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await chmod(cacheDir, 0o755);
  console.log(`making the library ${name}`);
  const access = join(directory, 'access.conf');
  await writeFile(access, `local all ${BOOTSTRAP_ROLE} trust\nlocal all all scram-sha-256\n`, {
    mode: 0o644,
  });
  const fast = { fsync: 'off', full_page_writes: 'off', max_wal_size: '8GB', autovacuum: 'off' };
  const settings = { ...fast, hba_file: access };
  const server = await startEmbedded({ dataDir: directory, settings, log: console.log });
  await grantToRole(server.connection);
  const database = openPool(server.connection, 2);
  await migrate(database.pool);
  await fill(database.pool);
  await database.pool.query('checkpoint');
  await database.close();
  await server.stop();
  await writeFile(complete, '');
  return directory;
}

/** Returns the data directory of a library with this many posts. */
export function corpusDirectory(posts: number): Promise<string> {
  return keptLibrary(`posts-${posts}`, (pool) => fillCorpus(pool, { posts }, console.log));
}

export interface Spawned {
  address: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

/** Starts one of our processes and waits for the line `listening on <address>`. */
export async function spawnServer(args: string[], env: Record<string, string>): Promise<Spawned> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: cacheDir,
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^listening on (\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error(`${args.join(' ')} ended`)));
  });
  return {
    address,
    child,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export const serverBin = join(root, 'server/bin/vitrine.js');

/** The arguments of Node with which `npm start` runs the service. */
export const startArgs = (bin: string) => ['--max-semi-space-size=8', bin, 'start'];

/** Starts the service on a library as in production, but without rate limits. */
export function spawnService(directory: string): Promise<Spawned> {
  return spawnServer(startArgs(serverBin), {
    VITRINE_DATA: directory,
    VITRINE_PORT: '0',
    VITRINE_LOG_LEVEL: 'warn',
    VITRINE_RATE_LIMITS: 'off',
  });
}

/** Opens a pool on the database of a running service. */
export function joinDatabase(directory: string): DatabasePool {
  return openPool(embeddedConnection(directory), 2);
}

/** A member of every corpus with some follows and posts of their own. */
export const READER = 42;

/** Returns the cookie of a new session of the reader. */
export async function readerCookie({ db }: DatabasePool): Promise<string> {
  const session = { userRef: READER, days: 1, address: '', userAgent: 'bench' };
  return `user=${(await startSession(db, session)).token}`;
}
