import { sql } from 'kysely';
import type { Columns, Tx } from '../../platform/database/pool.ts';

/** A version of an asset, as `asset_versions` has it. */
export type VersionRow = Columns<
  'asset_versions',
  'number' | 'file_hash' | 'file_name' | 'note' | 'created_at' | 'created_by_user_ref'
>;

/**
 * The versions `v` of an asset `a`, in a lateral join. An asset that was never replaced has no rows: its file is its
 * only version (migration 0100).
 */
export const versionsOfAsset = sql<VersionRow>`lateral (
  select r.number, r.file_hash, r.file_name, r.note, r.created_at, r.created_by_user_ref
    from asset_versions r where r.asset_id = a.id
  union all
  select 1, a.file_hash, a.file_name, '', a.created_at, a.owner_user_ref
    where not exists (select from asset_versions r where r.asset_id = a.id)) v`;

/** Writes the row of an asset's only version. The caller holds the asset's row. */
export async function recordFirstVersion(tx: Tx, assetId: string): Promise<void> {
  await sql`
    insert into asset_versions (asset_id, number, file_hash, file_name, created_at, created_by_user_ref)
    select a.id, v.number, v.file_hash, v.file_name, v.created_at, v.created_by_user_ref
    from assets a cross join ${versionsOfAsset} where a.id = ${assetId}
    on conflict (asset_id, number) do nothing`.execute(tx);
}
