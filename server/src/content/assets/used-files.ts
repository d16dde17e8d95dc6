import { sql } from 'kysely';
import { enqueueAll } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';

/** The hashes of all files that assets have, had in an earlier version, show in the interim, or play as their film. */
export const usedHashes = sql<{ hash: string }>`(
  select file_hash as hash from assets
  union select file_hash from asset_versions
  union select interim_hash from assets where interim_hash is not null
  union select film_hash from assets where film_hash is not null)`;

/** Deletes the row of a file that nothing uses any more. The caller holds the lock of the hash. */
export async function forgetUnusedFile(tx: Tx, hash: string): Promise<void> {
  await sql`delete from files f where f.hash = ${hash}
    and not exists (select from assets a where a.file_hash = f.hash)
    and not exists (select from assets a where a.interim_hash = f.hash)
    and not exists (select from assets a where a.film_hash = f.hash)
    and not exists (select from asset_versions v where v.file_hash = f.hash)`.execute(tx);
}

/** Enqueues the removal of files and subtitles that nothing uses any more. */
export async function enqueueRelease(tx: Tx, hashes: Iterable<string>): Promise<void> {
  // The same order for every worker, which prevents deadlocks.
  const sorted = [...new Set(hashes)].sort();
  await enqueueAll(
    tx,
    'release-bytes',
    sorted.map((hash) => ({ payload: { hash }, key: `release:${hash}` })),
  );
}
