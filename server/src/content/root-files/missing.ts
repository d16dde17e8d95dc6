import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { retryFailed } from '../assets/repair.ts';

/** Marks files that are gone, and their assets; previews stay (ROOT-7). Returns how many were not marked before. */
export async function markMissing(tx: Tx, ids: readonly number[]): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    with gone as (
      update root_files set missing_since = now()
      where id = any(${[...ids]}::bigint[]) and missing_since is null returning id, asset_id, is_film),
    marked as (
      update assets a set missing_since = now() from gone g where a.id = g.asset_id and not g.is_film and a.missing_since is null)
    select id from gone`.execute(tx);
  return rows.length;
}

/** Removes the mark from files that are back, and retries what failed without them. Returns how many had one. */
export async function markPresent(tx: Tx, ids: readonly number[]): Promise<number> {
  const { rows } = await sql<{ id: number; hash: string; mime: string | null }>`
    with back as (
      update root_files set missing_since = null
      where id = any(${[...ids]}::bigint[]) and missing_since is not null returning id, asset_id, hash, is_film),
    unmarked as (
      update assets a set missing_since = null from back b where a.id = b.asset_id and not b.is_film returning a.id, a.processing_status)
    select b.id, b.hash, f.mime from back b
      left join unmarked u on u.id = b.asset_id and u.processing_status = 'failed'
      left join files f on f.hash = b.hash and u.id is not null`.execute(tx);
  for (const { hash, mime } of rows) if (mime !== null) await retryFailed(tx, { hash, mime });
  return rows.length;
}
