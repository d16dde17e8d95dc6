import type { ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { reachableByDatabaseUser } from '../../src/platform/database/database-user.ts';
import {
  type EmbeddedConnection,
  type EmbeddedDatabase,
  type EmbeddedOptions,
  startEmbedded,
} from '../../src/platform/database/embedded.ts';

/** The working directory of processes that import the product's modules. */
export const serverDir = join(import.meta.dirname, '../..');
export const embeddedModule = pathToFileURL(join(serverDir, 'src/platform/database/embedded.ts')).href;
/** A directory that PostgreSQL's user can reach. */
export const base = reachableByDatabaseUser(tmpdir()) ? tmpdir() : '/var/tmp';

/** What a test file has created, which `clear` ends and removes. */
export const directories: string[] = [];
export const children: ChildProcess[] = [];
const databases: EmbeddedDatabase[] = [];

export async function stopDatabases(): Promise<void> {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const database of databases.splice(0)) await database.stop();
}

export async function clear(): Promise<void> {
  await stopDatabases();
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
}

/** Returns the path of a directory that does not exist yet. */
export async function freshDirectory(name = 'library'): Promise<string> {
  const parent = await mkdtemp(join(base, 'vitrine-embedded-'));
  await chmod(parent, 0o755);
  directories.push(parent);
  return join(parent, name);
}

export async function start(
  dataDir: string,
  options: Omit<EmbeddedOptions, 'dataDir' | 'log'> = {},
  log: (message: string) => void = () => {},
): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, log, ...options });
  databases.push(database);
  return database;
}

/** Returns the rows of a statement on a new connection. */
export async function ask(
  connection: EmbeddedConnection | pg.ClientConfig,
  statement: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
