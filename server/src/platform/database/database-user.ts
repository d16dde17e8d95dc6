import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { chmod, chown, mkdtemp, readdir, readlink, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeDirectory } from '../files/make-directory.ts';
import { sentence, WordedError } from '../language/sentence.ts';

export interface SystemUser {
  uid: number;
  gid: number;
}

/** The user that runs the embedded PostgreSQL when this process is root. */
export interface DatabaseUsers {
  /** Owns the files and runs the server. */
  runner: SystemUser;
  /** Runs initdb, which refuses a uid without an account. Its group is the runner's. */
  creator: SystemUser;
  /** Why the runner is `nobody`, a user shared with other programs; null when it has a uid of its own. */
  shared: string | null;
}

/**
 * The uid and gid reserved for PostgreSQL when this process is root. systemd allocates nothing from 65520 to 65533,
 * Debian reserves these numbers, and a default user namespace of 65,536 numbers includes them.
 */
export const DATABASE_UID = 65_521;

function accounts(): string[][] {
  if (!existsSync('/etc/passwd')) return [];
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
}

function findNobody(): SystemUser | null {
  const [, , uid, gid] = accounts().find(([name]) => name === 'nobody') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

function letsPass(directory: string, user: SystemUser): boolean {
  const { mode, uid, gid } = statSync(directory);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
}

/** Returns whether a user can enter `directory`, or its nearest existing parent. */
export function reachableBy(directory: string, user: SystemUser): boolean {
  let at = resolve(directory);
  while (!existsSync(at)) at = dirname(at);
  for (at = realpathSync(at); ; at = dirname(at)) {
    if (!letsPass(at, user)) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * Returns whether PostgreSQL's user can enter `directory`, or its nearest existing parent. Always true when PostgreSQL
 * runs as the current user.
 */
export function reachableByDatabaseUser(directory: string): boolean {
  const user = process.getuid?.() === 0 ? findNobody() : null;
  return user === null || reachableBy(directory, user);
}

/**
 * Creates a directory and its parents. As root, makes the new ones accessible to PostgreSQL's user whatever the umask.
 */
export async function makeReachable(directory: string): Promise<void> {
  const first = await makeDirectory(directory, 0o755);
  if (first === undefined || process.getuid?.() !== 0) return;
  for (let at = directory; at.length >= first.length; at = dirname(at)) {
    const { mode } = await stat(at);
    await chmod(at, (mode & 0o777) | 0o011);
  }
}

/** Returns the processes of a uid that are not PostgreSQL; empty where there is no /proc. */
export async function otherProcessesOf(uid: number): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(Number.isInteger);
  const found = await Promise.all(
    pids.map(async (pid) => {
      if ((await stat(`/proc/${pid}`).catch(() => null))?.uid !== uid) return false;
      const program = await readlink(`/proc/${pid}/exe`).catch(() => null);
      return program !== null && basename(program).replace(/ \(deleted\)$/, '') !== 'postgres';
    }),
  );
  return pids.filter((_, at) => found[at]);
}

/** Returns the account of a uid with its primary group, or null. */
export function accountOf(uid: number): (SystemUser & { name: string }) | null {
  const [name, , , gid] = accounts().find(([, , number]) => number === String(uid)) ?? [];
  return name === undefined || gid === undefined ? null : { name, uid, gid: Number(gid) };
}

export function isAccount(uid: number): boolean {
  return accountOf(uid) !== null;
}

/** Returns whether root gives its cluster to this uid: the configured one, or that of `nobody`. */
export function isDatabaseUser(uid: number, configured: number): boolean {
  return uid === configured || uid === findNobody()?.uid;
}

/** Returns whether the uid lies inside the user namespace; files cannot belong to one outside it. */
async function mayOwnFiles(dataDir: string, { uid, gid }: SystemUser): Promise<boolean> {
  const probe = await mkdtemp(join(dataDir, 'postgres.new-'));
  try {
    await chown(probe, uid, gid);
    return true;
  } catch {
    return false;
  } finally {
    await rmdir(probe);
  }
}

async function whyNotAlone(user: SystemUser, dataDir: string, binDir: string): Promise<string | null> {
  const closed = [dataDir, binDir].find((directory) => !reachableBy(directory, user));
  if (closed !== undefined) return `uid ${user.uid} cannot enter ${closed}`;
  const { uid } = (await stat(join(dataDir, 'postgres')).catch(() => null)) ?? {};
  if (uid === user.uid) return null;
  if (isAccount(user.uid)) return `uid ${user.uid} is an account of this system`;
  const [process] = await otherProcessesOf(user.uid);
  if (process !== undefined) return `uid ${user.uid} is in use (process ${process})`;
  return (await mayOwnFiles(dataDir, user)) ? null : `no file can be given to uid ${user.uid}`;
}

/**
 * Returns the users that run PostgreSQL. Null: the current user. As root, which PostgreSQL refuses: an unused uid, or
 * `nobody` where none is possible. A cluster that already belongs to `uid` keeps it.
 */
export async function chooseDatabaseUsers(
  dataDir: string,
  binDir: string,
  uid: number,
): Promise<DatabaseUsers | null> {
  if (process.getuid?.() !== 0) return null;
  const nobody = findNobody();
  if (nobody === null) {
    throw new WordedError(
      sentence('PostgreSQL does not run as root and there is no user nobody; start as an ordinary user'),
    );
  }
  const alone = { uid, gid: uid };
  const shared = await whyNotAlone(alone, dataDir, binDir);
  const runner = shared === null ? alone : nobody;
  return { runner, creator: { uid: nobody.uid, gid: runner.gid }, shared };
}
