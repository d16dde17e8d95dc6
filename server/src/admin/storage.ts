import { statfs } from 'node:fs/promises';
import { countStorage, getStorage, StorageCount } from '@vitrine/contract/storage';
import { sql } from 'kysely';
import { Check } from 'typebox/value';
import type { Deps } from '../deps.ts';
import { handle } from '../handle.ts';
import type { Database } from '../platform/database/pool.ts';
import { enqueue } from '../platform/jobs/enqueue.ts';
import { readSetting } from '../settings.ts';

const JOB_KEY = 'count-storage';

/** Room on the volume that holds a directory, for those who may use no reserve. */
export async function readDisk(directory: string): Promise<{ free_bytes: number; total_bytes: number }> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}

/** The figures of the last count; null before the first, and when another version of ours wrote them otherwise. */
async function readCount(db: Database): Promise<StorageCount | null> {
  const kept = await readSetting(db, 'storage_count');
  return Check(StorageCount, kept) ? kept : null;
}

async function isCounting(db: Database): Promise<boolean> {
  const { rows } = await sql`select from graphile_worker.jobs where key = ${JOB_KEY}
    and (locked_at is not null or attempts < max_attempts)`.execute(db);
  return rows.length > 0;
}

async function readOverview({ db, config }: Pick<Deps, 'db' | 'config'>) {
  // Read before the figures: a count that ends between the two would leave those of before, and nobody would ask again.
  const counting = await isCounting(db);
  return { counted: await readCount(db), counting, disk: await readDisk(config.dataDir) };
}

export const showStorage = handle(getStorage, async (deps) => ({
  status: 200,
  body: await readOverview(deps),
}));

/** Nothing is asked for while a count is under way, so that impatience does not pile up. */
export const askToCount = handle(countStorage, async (deps) => {
  if (!(await isCounting(deps.db))) await enqueue(deps.db, 'count-storage', {}, { key: JOB_KEY });
  return { status: 202, body: await readOverview(deps) };
});

/** Asks for the first count of a library; the later ones come round by themselves. */
export async function countStorageOnce(db: Database): Promise<void> {
  if ((await readCount(db)) === null) await enqueue(db, 'count-storage', {}, { key: JOB_KEY });
}
