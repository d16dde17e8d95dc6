import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export interface SystemUser {
  uid: number;
  gid: number;
}

/** Whom PostgreSQL runs as: ourselves, or as root `nobody`, because it refuses to run as root. */
export function databaseUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error('PostgreSQL does not run as root and there is no user nobody; start as an ordinary user');
  }
  return { uid: Number(uid), gid: Number(gid) };
}

function letsPass(directory: string, user: SystemUser): boolean {
  const { mode, uid, gid } = statSync(directory);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
}

/**
 * Whether PostgreSQL's user could enter `directory`, or what there is of it so far. Always true for an ordinary
 * user, who runs PostgreSQL as themselves.
 */
export function reachableByDatabaseUser(directory: string): boolean {
  const user = databaseUser();
  if (user === null) return true;
  let at = resolve(directory);
  while (!existsSync(at)) at = dirname(at);
  for (; ; at = dirname(at)) {
    if (!letsPass(at, user)) return false;
    if (at === dirname(at)) return true;
  }
}
