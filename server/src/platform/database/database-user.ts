import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

export interface SystemUser {
  uid: number;
  gid: number;
}

function findNobody(): SystemUser | null {
  if (!existsSync('/etc/passwd')) return null;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = lines.find((line) => line.startsWith('nobody:'))?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/** Whom PostgreSQL runs as: null for ourselves, or as root `nobody`, because it refuses to run as root. */
export function databaseUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const nobody = findNobody();
  if (nobody === null) {
    throw new Error('PostgreSQL does not run as root and there is no user nobody; start as an ordinary user');
  }
  return nobody;
}

function letsPass(directory: string, user: SystemUser): boolean {
  const { mode, uid, gid } = statSync(directory);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
}

/**
 * Whether PostgreSQL's user could enter `directory`, or what there is of it so far. Always true for an ordinary
 * user, who runs PostgreSQL as themselves, and where there is no such user to ask for.
 */
export function reachableByDatabaseUser(directory: string): boolean {
  const user = process.getuid?.() === 0 ? findNobody() : null;
  if (user === null) return true;
  let at = resolve(directory);
  while (!existsSync(at)) at = dirname(at);
  for (at = realpathSync(at); ; at = dirname(at)) {
    if (!letsPass(at, user)) return false;
    if (at === dirname(at)) return true;
  }
}

/** Makes a directory and what it lies in; as root, PostgreSQL's user can enter what was made whatever the umask. */
export async function makeReachable(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o755 });
  if (first === undefined || process.getuid?.() !== 0) return;
  for (let at = directory; at.length >= first.length; at = dirname(at)) {
    const { mode } = await stat(at);
    await chmod(at, (mode & 0o777) | 0o011);
  }
}
