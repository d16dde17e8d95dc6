import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../files/directory-tree.ts';
import { sentence, WordedError } from '../language/sentence.ts';

/** 256 random bits in base64url. */
const SECRET = /^[\w-]{43}$/;
/** PostgreSQL's own default. The secret is random, so more iterations would not protect it better. */
const ITERATIONS = 4096;

function secretFile(dataDir: string): string {
  return join(dataDir, 'postgres.secret');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Replaces a file atomically and durably. Sets `mode` and `owner` before writing any content. A link in its place is
 * replaced, never followed.
 */
export async function replaceFile(
  directory: string,
  name: string,
  content: string,
  owner: { uid: number; gid: number } | null,
): Promise<void> {
  const temporary = join(directory, `${name}.new`);
  await rm(temporary, { force: true, recursive: true });
  const handle = await open(temporary, 'wx', 0o600);
  try {
    if (owner !== null) await handle.chown(owner.uid, owner.gid);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(directory, name));
  await syncDirectory(directory);
}

/** Returns the stored secret; null when there is none, or when other users could have read or written it. */
async function readOwnSecret(dataDir: string): Promise<string | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(secretFile(dataDir), flags).catch(() => null);
  if (handle === null) return null;
  try {
    const found = await handle.stat();
    const isPrivate = found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
    if (!isPrivate) return null;
    const secret = (await handle.readFile('utf8')).trim();
    return SECRET.test(secret) ? secret : null;
  } finally {
    await handle.close();
  }
}

/**
 * Returns the password of the embedded database: `<dataDir>/postgres.secret`, readable by this process's user only.
 * Creates it when it is missing, damaged, or was readable by others. Call it under the instance lock.
 */
export async function keepSecret(dataDir: string): Promise<string> {
  const known = await readOwnSecret(dataDir);
  if (known !== null) return known;
  const secret = randomBytes(32).toString('base64url');
  await replaceFile(dataDir, 'postgres.secret', `${secret}\n`, null);
  return secret;
}

/**
 * Returns the password of a database that another process of this user runs; throws an Error of one line when there is
 * none.
 */
export function readSecret(dataDir: string): string {
  try {
    return readFileSync(secretFile(dataDir), 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      throw new WordedError(
        sentence('there is no {file}; restart Vitrine, which creates it', { file: secretFile(dataDir) }),
      );
    }
    if (hasCode(error, 'EACCES')) {
      throw new WordedError(
        sentence('cannot read {file}; run this as the user that runs Vitrine', { file: secretFile(dataDir) }),
      );
    }
    throw error;
  }
}

/**
 * Returns what PostgreSQL stores for a password (RFC 5803). The password cannot be derived from it, so it may be
 * logged.
 */
export function verifierOf(secret: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(secret, salt, ITERATIONS, 32, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(key('Client Key')).digest('base64');
  const serverKey = key('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
