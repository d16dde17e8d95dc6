import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, lchown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../files/directory-tree.ts';
import { type Sentence, sentence, WordedError } from '../language/sentence.ts';
import type { DatabaseUsers, SystemUser } from './database-user.ts';
import { whyNotRun } from './embedded-binaries.ts';
import { endOrphan } from './embedded-orphan.ts';
import { BOOTSTRAP_ROLE, createOwnRole, ROLE, runAs } from './embedded-role.ts';
import { replaceFile } from './embedded-secret.ts';

function initdbFailed(output: string): Sentence {
  if (/could not look up effective user ID/.test(output)) {
    const uid = process.getuid?.();
    return sentence(
      'PostgreSQL needs a line in /etc/passwd for uid {uid}; start as another user, or set DATABASE_URL',
      { uid: String(uid) },
    );
  }
  return sentence('initdb failed: {reason}', { reason: output.trim().split('\n').slice(-3).join(' / ') });
}

async function runInitdb(binDir: string, directory: string, user: SystemUser | null): Promise<void> {
  const access = [`--username=${BOOTSTRAP_ROLE}`, '--auth=reject'];
  const options = [...access, '--encoding=UTF8', '--no-instructions'];
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
  throw new WordedError(whyNotRun(binary, failure, output) ?? initdbFailed(output));
}

async function giveEntries(directory: string, { uid, gid }: SystemUser): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    await lchown(path, uid, gid);
    if (entry.isDirectory()) await giveEntries(path, { uid, gid });
  }
}

/**
 * Gives a tree to another user, each directory before its entries, so that the former owner cannot replace an entry by
 * a link. The top directory belongs to root until the rest is done, so that an interrupted run starts over.
 */
async function giveTo(directory: string, user: SystemUser): Promise<void> {
  await chown(directory, 0, 0);
  await chmod(directory, 0o700);
  await giveEntries(directory, user);
  await chown(directory, user.uid, user.gid);
}

/** PostgreSQL requires files of its own user that other users cannot access. */
async function claim(cluster: string, user: SystemUser | null): Promise<void> {
  const { uid, mode } = await stat(cluster);
  const ours = user?.uid ?? process.getuid?.();
  if (ours !== undefined && uid !== ours) {
    if (user === null) {
      throw new WordedError(
        sentence('{directory} belongs to another user (uid {uid}); start as that user, or as root', {
          directory: cluster,
          uid: String(uid),
        }),
      );
    }
    // A server that outlived a killed Vitrine may still use these files.
    await endOrphan(cluster);
    await giveTo(cluster, user);
  }
  if ((mode & 0o777) !== 0o700) await chmod(cluster, 0o700);
}

/** The cluster that an upgrade replaced, beside the new one. */
export const FORMER_CLUSTER = 'postgres.before-upgrade';

type DirectoryContent = 'nothing' | 'a cluster' | 'something else';

async function lookAt(cluster: string): Promise<DirectoryContent> {
  const names = await readdir(cluster).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ENOENT') return [];
      // Not readable, so it belongs to another user; `claim` reports which one.
      if (error.code === 'EACCES') return ['PG_VERSION'];
    }
    throw error;
  });
  if (names.length === 0) return 'nothing';
  return names.includes('PG_VERSION') ? 'a cluster' : 'something else';
}

/**
 * The connections that pg_hba.conf allows: this user over the socket, with the password. PostgreSQL refuses the rest.
 */
const ACCESS = `# Vitrine writes this file at every start.
local all ${ROLE} scram-sha-256
`;

async function writeAccess(cluster: string, user: SystemUser | null): Promise<void> {
  const present = await readFile(join(cluster, 'pg_hba.conf'), 'utf8').catch(() => null);
  if (present !== ACCESS) await replaceFile(cluster, 'pg_hba.conf', ACCESS, user);
}

/**
 * Creates a cluster in `staging`, accessible to the group only, so that other processes of the creator's uid cannot
 * enter it.
 */
async function createIn(
  staging: string,
  binDir: string,
  users: DatabaseUsers | null,
  verifier: string,
): Promise<string> {
  const fresh = join(staging, 'postgres');
  await mkdir(staging, { mode: 0o700 });
  await mkdir(fresh, { mode: 0o700 });
  if (users !== null) {
    const { creator } = users;
    await chown(fresh, creator.uid, creator.gid);
    await chown(staging, 0, creator.gid);
    await chmod(staging, 0o710);
  }
  const creator = users?.creator ?? null;
  await runInitdb(binDir, fresh, creator);
  await createOwnRole(binDir, fresh, creator, verifier);
  if (users !== null) await giveTo(fresh, users.runner);
  await writeAccess(fresh, users?.runner ?? null);
  return fresh;
}

/**
 * Prepares `<dataDir>/postgres` for the runner of `users`: creates it in a sibling directory that is renamed when
 * complete, or, as root, takes over another user's. Afterwards every connection needs a password; a new cluster has the
 * one of `verifier`. Call it under the instance lock: it removes what an interrupted start left behind.
 */
export async function prepareCluster(
  binDir: string,
  dataDir: string,
  users: DatabaseUsers | null,
  verifier: () => string,
): Promise<string> {
  const cluster = join(dataDir, 'postgres');
  const leftovers = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'));
  // The initdb of a start that was just killed may still write to it until it notices.
  const patient = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
  for (const name of leftovers) await rm(join(dataDir, name), patient);
  const found = await lookAt(cluster);
  if (found === 'something else')
    throw new WordedError(sentence('{directory} is not a PostgreSQL data directory', { directory: cluster }));
  if (found === 'a cluster') {
    await claim(cluster, users?.runner ?? null);
    await writeAccess(cluster, users?.runner ?? null);
    return cluster;
  }
  if (existsSync(join(dataDir, FORMER_CLUSTER))) {
    throw new WordedError(sentence('an upgrade of the database was interrupted; run vitrine upgrade again'));
  }
  const staging = join(dataDir, `postgres.new-${process.pid}`);
  try {
    await rename(await createIn(staging, binDir, users, verifier()), cluster);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  // Without this sync, a power failure could restore the old name, which the next start would delete.
  await syncDirectory(dataDir);
  return cluster;
}
