import { type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, ConfigError } from '../core/config.ts';
import { accountOf, isDatabaseUser, reachableBy } from '../platform/database/database-user.ts';
import { FORMER_CLUSTER } from '../platform/database/embedded-cluster.ts';
import { say } from '../platform/language/say.ts';
import { sentence } from '../platform/language/sentence.ts';

type Place = Pick<Config, 'dataDir' | 'databaseUrl' | 'postgresUid' | 's3' | 'language'>;

/** Returns what is at a path, or null. Throws a ConfigError when this user may not look. */
function lookAt(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOTDIR') return null;
    throw new ConfigError(
      sentence('VITRINE_DATA: cannot read {path} ({code}); run this as the user that runs Vitrine', {
        path,
        code,
      }),
    );
  }
}

/** Throws a ConfigError unless the data directory has a library. With a bucket and `DATABASE_URL`, it may be empty. */
function requireLibrary({ dataDir, databaseUrl, s3 }: Place): void {
  const parts = databaseUrl === null ? ['postgres', FORMER_CLUSTER] : ['library'];
  const isElsewhere = databaseUrl !== null && s3 !== null;
  if (isElsewhere || parts.some((part) => lookAt(join(dataDir, part)) !== null)) return;
  throw new ConfigError(
    sentence('there is no library in {directory}; set VITRINE_DATA to where it is', { directory: dataDir }),
  );
}

/** Returns the owner of a library; null if there is none. */
function ownerOf({ dataDir, postgresUid }: Place): Stats | null {
  const secret = lookAt(join(dataDir, 'postgres.secret'));
  if (secret !== null) return secret;
  // A library from before passwords. Root gives the cluster to PostgreSQL's own user.
  const cluster = lookAt(join(dataDir, 'postgres'));
  if (cluster !== null && !isDatabaseUser(cluster.uid, postgresUid)) return cluster;
  return lookAt(join(dataDir, 'library'));
}

/** Returns the nearest existing directory, in which a library may be created. */
function nearestDirectory(path: string): Stats | null {
  for (let at = path; ; at = dirname(at)) {
    const found = lookAt(at);
    if (found !== null || at === dirname(at)) return found;
  }
}

/**
 * As root, continues as the owner of the library, or of the place where it will be created: files of root in it would
 * prevent the owner's service from starting. Throws a ConfigError when that is impossible.
 */
function continueAs({ uid, gid }: Pick<Stats, 'uid' | 'gid'>, { dataDir, language }: Place): void {
  const account = accountOf(uid);
  const name = account?.name ?? `uid ${uid}`;
  const user = { uid, gid: account?.gid ?? gid };
  if (!reachableBy(import.meta.dirname, user))
    throw new ConfigError(
      sentence(
        'the library in {directory} belongs to {name}, who may not read {path}; give that user access to it',
        {
          directory: dataDir,
          name,
          path: import.meta.dirname,
        },
      ),
    );
  try {
    if (account === null) process.setgroups?.([user.gid]);
    // The types lack this function.
    else if ('initgroups' in process && typeof process.initgroups === 'function')
      process.initgroups(account.name, user.gid);
    process.setgid?.(user.gid);
    process.setuid?.(uid);
  } catch {
    throw new ConfigError(
      sentence('the library in {directory} belongs to {name}; run this as that user: {command}', {
        directory: dataDir,
        name,
        command: `runuser -u ${account?.name ?? `'#${uid}'`} -- ...`,
      }),
    );
  }
  console.error(
    say(language, 'continuing as {name}, the owner of {directory}', { name, directory: dataDir }),
  );
}

function becomeOwner(owner: Stats | null, place: Place): void {
  if (process.getuid?.() === 0 && owner !== null && owner.uid !== 0) continueAs(owner, place);
}

/**
 * Prepares a command for an existing library: throws a ConfigError if there is none (RUN-31), and as root becomes its
 * owner (RUN-30). Call it after reading files that only the caller may read, such as a key.
 */
export function enterLibrary(place: Place): void {
  requireLibrary(place);
  becomeOwner(ownerOf(place), place);
}

/** As root, becomes the owner of the directory in which a library will be created (RUN-30). */
export function enterEmptyPlace(place: Place): void {
  becomeOwner(ownerOf(place) ?? nearestDirectory(place.dataDir), place);
}

/**
 * As root, becomes the owner of the library that a start will use, or of its empty data directory (RUN-30). Where that
 * user has no account or may not read the code, root takes the library over.
 */
export function enterToStart(place: Place): void {
  const owner = ownerOf(place) ?? lookAt(place.dataDir);
  const account = owner === null ? null : accountOf(owner.uid);
  if (account !== null && reachableBy(import.meta.dirname, account)) becomeOwner(owner, place);
}
