import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import type { KeyPlace } from '../../people/identity/secret-key.ts';
import {
  beginRestoring,
  createJobQueue,
  endRestoring,
  isRestoring,
  knownMigrations,
  migrate,
} from '../../platform/database/migrate.ts';
import { removeJobsOf } from '../../platform/jobs/queue-tables.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { isOutOfRoom } from '../../platform/storage/room.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { type CopyProgress, inOrder, readFileOf } from './copy-files.ts';
import { load } from './load.ts';
import { type BackupFile, type Manifest, readFiles } from './manifest.ts';
import type { Repository } from './repository.ts';
import { checkKey, type LostSecrets, restoreKey } from './restore-key.ts';
import { BackupError } from './target.ts';

/** Throws BackupError when this version cannot read the backup. */
export function requireKnownVersion({ migrations, version }: Manifest): void {
  const known = new Set(knownMigrations());
  if (migrations.every((name) => known.has(name))) return;
  throw new BackupError(
    sentence('the backup was made by a newer Vitrine ({version}); restore it with that version', { version }),
  );
}

async function requireEmptyDatabase(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ used: boolean }>(`select exists (
    select from pg_class c where c.relkind in ('r', 'v', 'p')
      and (c.relnamespace = 'public'::regnamespace or c.relnamespace = to_regnamespace('graphile_worker'))
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')) as used`);
  if (rows[0]?.used !== true) return;
  throw new BackupError(
    sentence('this library is not empty; restore into a new data directory (--data) or an empty database'),
  );
}

/**
 * Throws BackupError unless database and storage are empty or contain only an unfinished restore. Null: there is no
 * database yet.
 */
export async function requireEmpty(
  client: Pick<pg.ClientBase, 'query'> | null,
  storage: Storage,
): Promise<void> {
  if (client !== null) {
    if (await isRestoring(client)) return;
    await requireEmptyDatabase(client);
  }
  for (const prefix of ['originals', 'renditions', 'subtitles', 'logos']) {
    for await (const { key } of storage.list(prefix)) {
      throw new BackupError(
        sentence('there are files in the library already, such as {file}; restore into an empty one', {
          file: key,
        }),
      );
    }
  }
}

async function restoreFile(repository: Repository, storage: Storage, file: BackupFile): Promise<void> {
  const path = join(storage.incomingDir, `restore-${randomUUID()}`);
  try {
    await pipeline(readFileOf(repository, file), createWriteStream(path, { flags: 'wx' }));
    await storage.adopt(path, file.key);
  } finally {
    await rm(path, { force: true });
  }
}

export interface RestoreOptions {
  /** Where the library keeps its secret key. */
  place: KeyPlace;
  /** Keys of damaged files, which are left out. */
  skipped: ReadonlySet<string>;
  progress(done: CopyProgress): void;
}

async function restoreFiles(
  repository: Repository,
  storage: Storage,
  manifest: Manifest,
  { skipped, progress }: Pick<RestoreOptions, 'skipped' | 'progress'>,
): Promise<void> {
  const done: CopyProgress = { files: 0, bytes: 0 };
  const restored = inOrder(readFiles(repository, manifest), async (file) => {
    if (skipped.has(file.key)) return null;
    // Skips originals, which are stored completely or not at all. Previews of another backup may differ under the
    // same key.
    const head = file.key.startsWith('originals/') ? await storage.head(file.key) : null;
    if (head?.sizeBytes !== file.bytes) await restoreFile(repository, storage, file);
    return file.bytes;
  });
  for await (const bytes of restored) {
    if (bytes === null) continue;
    done.files += 1;
    done.bytes += bytes;
    progress(done);
  }
}

/**
 * Removes sessions, which may have been ended after the backup, and mails that were pending then (RUN-16). The files are
 * where the new settings say, and the library has no backup that it knows of.
 */
async function endPast(client: pg.ClientBase): Promise<void> {
  await client.query('delete from sessions');
  await client.query("delete from settings where key in ('buckets', 'last_backup')");
  const mails = ['mail-notification', 'mail-digest', 'mail-invitation'];
  const ofAccounts = ['mail-links-of-name', 'mail-account-link', 'mail-account-notice'];
  await removeJobsOf(client, [...mails, ...ofAccounts]);
}

async function restoreRows(
  client: pg.ClientBase,
  repository: Repository,
  manifest: Manifest,
  place: KeyPlace,
): Promise<LostSecrets | null> {
  await client.query('begin');
  try {
    await load(client, repository, manifest);
    await endPast(client);
    const lost = await restoreKey(client, manifest, place);
    await endRestoring(client);
    await client.query('commit');
    return lost;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/**
 * Restores a backup, which must have been verified, into an empty library, and migrates it to this version. The rows
 * appear in one transaction after all files; until then the service refuses to start on the library, and a restore can
 * begin again. Returns the secrets that were removed because their key is lost; null: none. Throws BackupError when the
 * library is not empty, its disk is full, or the backup is damaged, newer or of a library with another key.
 */
export async function restoreBackup(
  pool: pg.Pool,
  storage: Storage,
  repository: Repository,
  manifest: Manifest,
  { place, ...options }: RestoreOptions,
): Promise<LostSecrets | null> {
  requireKnownVersion(manifest);
  await checkKey(manifest, place);
  const client = await pool.connect();
  let lost: LostSecrets | null;
  try {
    await requireEmpty(client, storage);
    await beginRestoring(client);
    await restoreFiles(repository, storage, manifest, options);
    await createJobQueue(pool);
    lost = await restoreRows(client, repository, manifest, place);
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
    throw new BackupError(sentence('the disk of the library is full; make room and restore again'), {
      cause: error,
    });
  } finally {
    client.release(true);
  }
  await migrate(pool);
  await analyze(pool);
  return lost;
}

/** Gathers statistics, without which the first queries would be slow. */
export async function analyze(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query('analyze');
  } finally {
    client.release(true);
  }
}
