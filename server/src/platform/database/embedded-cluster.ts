import { spawn } from 'node:child_process';
import { chmod, chown, lchown, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SystemUser } from './database-user.ts';
import { whyNotRun } from './embedded-binaries.ts';

/** How a binary of PostgreSQL is started: as its user, on no locale, directory or client setting of the caller's. */
export function runAs(user: SystemUser | null) {
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };
  return { cwd: '/', env, ...(user === null ? {} : { uid: user.uid, gid: user.gid }) };
}

function initdbFailed(output: string): string {
  if (/could not look up effective user ID/.test(output)) {
    const uid = process.getuid?.();
    return `PostgreSQL needs a line in /etc/passwd for uid ${uid}; start as another user, or set DATABASE_URL`;
  }
  return `initdb failed: ${output.trim().split('\n').slice(-3).join(' / ')}`;
}

async function runInitdb(binDir: string, directory: string, user: SystemUser | null): Promise<void> {
  const options = ['--username=vitrine', '--auth=trust', '--encoding=UTF8', '--no-instructions'];
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=und'];
  const binary = join(binDir, 'initdb');
  const child = spawn(binary, ['-D', directory, ...options, ...locale], {
    ...runAs(user),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(String(chunk)));
  const ended = await new Promise<number | null | Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  if (ended === 0) return;
  const output = chunks.join('');
  const failure = ended instanceof Error ? ended : null;
  throw new Error(whyNotRun(binary, failure, output) ?? initdbFailed(output));
}

async function writeThrough(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Hands a tree over from within, so that one broken off still looks like the old owner's at its top. */
async function giveTo(directory: string, { uid, gid }: SystemUser): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await giveTo(path, { uid, gid });
    else await lchown(path, uid, gid);
  }
  await chown(directory, uid, gid);
}

/** PostgreSQL only runs on files of its own user that are closed to others. */
async function claim(cluster: string, user: SystemUser | null): Promise<void> {
  const { uid, mode } = await stat(cluster);
  const ours = user?.uid ?? process.getuid?.();
  if (ours !== undefined && uid !== ours) {
    if (user === null) {
      throw new Error(`${cluster} belongs to another user (uid ${uid}); start as that user, or as root`);
    }
    await giveTo(cluster, user);
  }
  if ((mode & 0o777) !== 0o700) await chmod(cluster, 0o700);
}

type Found = 'nothing' | 'a cluster' | 'something else';

async function lookAt(cluster: string): Promise<Found> {
  const names = await readdir(cluster).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ENOENT') return [];
      // Closed to us, so it is somebody's; whose, is for `claim` to say.
      if (error.code === 'EACCES') return ['PG_VERSION'];
    }
    throw error;
  });
  if (names.length === 0) return 'nothing';
  return names.includes('PG_VERSION') ? 'a cluster' : 'something else';
}

/**
 * Makes `<dataDir>/postgres` ready to be started by `user`: created when there is none, in a directory beside it
 * that is renamed when it is whole; taken over when we are root and it was another's. Call it under the instance
 * lock: what a killed start left behind is removed.
 */
export async function prepareCluster(
  binDir: string,
  dataDir: string,
  user: SystemUser | null,
): Promise<string> {
  const cluster = join(dataDir, 'postgres');
  const leftovers = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'));
  // The initdb of a start just killed may still be writing into it, until it notices.
  const patient = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
  for (const name of leftovers) await rm(join(dataDir, name), patient);
  const found = await lookAt(cluster);
  if (found === 'something else') throw new Error(`${cluster} is not a PostgreSQL data directory`);
  if (found === 'a cluster') {
    await claim(cluster, user);
    return cluster;
  }
  const fresh = join(dataDir, `postgres.new-${process.pid}`);
  try {
    await mkdir(fresh, { mode: 0o700 });
    if (user !== null) await chown(fresh, user.uid, user.gid);
    await runInitdb(binDir, fresh, user);
    await rename(fresh, cluster);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
  // Otherwise a power cut could bring back the name that the next start sweeps away.
  await writeThrough(dataDir);
  return cluster;
}
