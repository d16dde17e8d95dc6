import type { Tx } from '../../platform/database/pool.ts';

/** A relation is stored once, the smaller id first. */
function pairOf(one: string, other: string): { asset_id: string; related_id: string } {
  const [asset_id = '', related_id = ''] = [one.toLowerCase(), other.toLowerCase()].toSorted();
  return { asset_id, related_id };
}

/** Relates two assets, and returns whether they were not related before. An asset is not related to itself. */
export async function relate(tx: Tx, one: string, other: string): Promise<boolean> {
  const pair = pairOf(one, other);
  if (pair.asset_id === pair.related_id) return false;
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('related_assets')
    .values(pair)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
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
