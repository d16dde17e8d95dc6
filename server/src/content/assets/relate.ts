import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

/** A relation is stored once, the smaller id first. */
function pairOf(one: string, other: string): { asset_id: string; related_id: string } {
  const [asset_id = '', related_id = ''] = [one, other].toSorted();
  return { asset_id, related_id };
}

/** Relates pairs of assets, and returns how many were not related before. An asset is not related to itself. */
export async function relateAll(
  tx: Tx,
  pairs: readonly (readonly [one: string, other: string])[],
): Promise<number> {
  const rows = pairs
    .map(([one, other]) => pairOf(one, other))
    .filter(({ asset_id, related_id }) => asset_id !== related_id);
  if (rows.length === 0) return 0;
  // Arrays, because a statement has at most 65,535 parameters.
  const { numAffectedRows = 0n } = await sql`insert into related_assets (asset_id, related_id)
    select * from unnest(${rows.map(({ asset_id }) => asset_id)}::uuid[],
      ${rows.map(({ related_id }) => related_id)}::uuid[])
    on conflict do nothing`.execute(tx);
  return Number(numAffectedRows);
}

/** Relates two assets, and returns whether they were not related before. */
export async function relate(tx: Tx, one: string, other: string): Promise<boolean> {
  return (await relateAll(tx, [[one, other]])) > 0;
}

/** Ends the relation of two assets, and returns whether there was one. */
export async function unrelate(tx: Tx, one: string, other: string): Promise<boolean> {
  const { asset_id, related_id } = pairOf(one, other);
  const { numDeletedRows } = await tx
    .deleteFrom('related_assets')
    .where('asset_id', '=', asset_id)
    .where('related_id', '=', related_id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
