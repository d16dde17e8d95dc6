import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { describeKey, isKeyOf, type KeyRecord } from '../../people/identity/secret-key.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { allowRemoval, forbidRemoval } from '../../platform/storage/removal.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { type CopyProgress, copyFiles, type Recheck } from './copy-files.ts';
import { dump, readStoredKey, requireLibrary } from './dump.ts';
import { listBackups, type Manifest, readManifest, writeManifest } from './manifest.ts';
import { prune } from './prune.ts';
import { prepareRepository, type Repository } from './repository.ts';
import { BackupError, type BackupTarget } from './target.ts';

export interface BackupOptions {
  /** Version of the product. */
  version: string;
  /** Null if backups are not encrypted. */
  passphrase: string | null;
  /** The key that seals secrets, which encrypted backups contain; null if it is not known. */
  secretKey: string | null;
  /** The number of complete backups to keep; null for all. */
  keep: number | null;
  now: Date;
  progress(done: CopyProgress): void;
}

export interface BackupReport {
  manifest: Manifest;
  /** Files that were not in the place before. */
  added: CopyProgress;
  /** Older files that were read again. */
  rechecked: Recheck;
  /** Ids of the backups that `keep` removed. */
  removed: string[];
  /** Whether the library knows the time of this backup, for metrics and the doctor. */
  isRecorded: boolean;
}

/** Returns a name for a backup made now, which sorts after all others. */
function nextId(now: Date, known: readonly string[]): string {
  const idOf = (at: number) => new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const last = known.at(-1) ?? '';
  let at = now.getTime();
  while (idOf(at) <= last) at += 1000;
  return idOf(at);
}

/** Stores the time of a complete backup; false if the database cannot be written to, such as a replica. */
async function recordBackup(client: pg.ClientBase, { takenAt, lost }: Manifest): Promise<boolean> {
  const value = JSON.stringify({ at: takenAt, lost: lost.count });
  return client
    .query(
      `insert into settings (key, value) values ('last_backup', $1)
       on conflict (key) do update set value = excluded.value, updated_at = now()`,
      [value],
    )
    .then(
      () => true,
      () => false,
    );
}

/** Returns the secret key for the manifest of an encrypted backup (RUN-42). */
function keyToStore(
  stored: string | KeyRecord | null,
  { passphrase, secretKey }: Pick<BackupOptions, 'passphrase' | 'secretKey'>,
): string | null {
  if (passphrase === null || stored === null) return null;
  if (typeof stored === 'string') return stored;
  return secretKey !== null && isKeyOf(secretKey, stored) ? secretKey : null;
}

async function backUp(
  client: pg.ClientBase,
  storage: Storage,
  repository: Repository,
  { version, keep, now, progress, passphrase, secretKey }: BackupOptions,
): Promise<BackupReport> {
  const { complete, incomplete } = await listBackups(repository);
  for (const id of incomplete) {
    for await (const key of repository.target.list(`backups/${id}/`)) await repository.target.remove(key);
  }
  const last = complete.at(-1);
  const previous = last === undefined ? null : await readManifest(repository, last).catch(() => null);
  const id = nextId(now, complete);
  const listPath = join(storage.incomingDir, `backup-${randomUUID()}`);
  try {
    const rows = await dump(client, repository, id, listPath, 'kept');
    const { added, rechecked, ...files } = await copyFiles(
      repository,
      storage,
      { id, listPath, previous },
      progress,
    );
    // Its connection holds the lock that kept these files; fails if it was lost meanwhile.
    await client.query('select 1');
    await repository.target.sync();
    const key = keyToStore(await readStoredKey(client), { passphrase, secretKey });
    const manifest: Manifest = { id, version, ...rows, ...files, secretKey: key };
    await writeManifest(repository, manifest);
    await repository.target.sync();
    const surplus = keep === null ? [] : [...complete, id].slice(0, -keep);
    await prune(repository, surplus, incomplete.length > 0);
    return { manifest, added, rechecked, removed: surplus, isRecorded: await recordBackup(client, manifest) };
  } finally {
    await rm(listPath, { force: true });
  }
}

/**
 * Adds a backup of a library to a place: all rows of one snapshot and the files they refer to. The library may be in
 * use. Backups in the place share files, so only new ones are copied. Throws BackupError when it cannot be made; then
 * the place has the same backups as before.
 */
export async function createBackup(
  pool: pg.Pool,
  storage: Storage,
  target: BackupTarget,
  options: BackupOptions,
): Promise<BackupReport> {
  const lock = await target.lock();
  const client = await pool.connect();
  try {
    await requireLibrary(client);
    const stored = await readStoredKey(client);
    const library = typeof stored === 'string' ? describeKey(stored).library : (stored?.library ?? null);
    const repository = await prepareRepository(target, library, options.passphrase);
    if (!(await forbidRemoval(client)))
      throw new BackupError(sentence('another backup of this library is running'));
    try {
      return await backUp(client, storage, repository, options);
    } finally {
      await allowRemoval(client).catch(() => {});
    }
  } finally {
    // The session may have its own settings by now.
    client.release(true);
    await lock.release();
  }
}
