import { statfs } from 'node:fs/promises';
import { countStorage, getStorage, StorageCount } from '@vitrine/contract/storage';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import { readSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';

const JOB_KEY = 'count-storage';

const stored = compileLater(StorageCount);

/** Free space on a directory's volume, for processes without access to the file system's reserve. */
export async function readDisk(directory: string): Promise<{ free_bytes: number; total_bytes: number }> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}

/**
 * Returns the figures of the last count; null before the first, and when another version stored them in another form.
 */
export async function readStorageCount(db: Database): Promise<StorageCount | null> {
  const kept = await readSetting(db, 'storage_count');
  return stored().Check(kept) ? kept : null;
}

async function isCounting(db: Database): Promise<boolean> {
  const { rows } = await sql`select from graphile_worker.jobs where key = ${JOB_KEY}
    and (locked_at is not null or attempts < max_attempts)`.execute(db);
  return rows.length > 0;
}

async function readOverview({ db, config }: Pick<Deps, 'db' | 'config'>) {
  // Read before the figures: otherwise a count that ends in between would return old figures with no count pending.
  const counting = await isCounting(db);
  return { counted: await readStorageCount(db), counting, disk: await readDisk(config.dataDir) };
}

export const showStorage = handle(getStorage, async (deps) => ({
  status: 200,
  body: await readOverview(deps),
}));

/** Does not enqueue another count while one is running. */
export const requestStorageCount = handle(countStorage, async (deps) => {
  if (!(await isCounting(deps.db))) await enqueue(deps.db, 'count-storage', {}, { key: JOB_KEY });
  return { status: 202, body: await readOverview(deps) };
});

/**
 * Enqueues the first count of a library; later ones run on a schedule. Does not check the figures of the last one, because
 * the schema compiler would be loaded while the first requests wait.
 */
export async function countStorageOnce(db: Database): Promise<void> {
  if ((await readSetting(db, 'storage_count')) === null)
    await enqueue(db, 'count-storage', {}, { key: JOB_KEY });
}
