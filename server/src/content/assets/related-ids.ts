import { mostRelated } from '@vitrine/contract/related-assets';
import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';

/** The other files of the relations of an asset, as rows with `id` and `created_at`. */
export function relationsOf(id: string): RawBuilder<unknown> {
  return sql`(select related_id as id, created_at from related_assets where asset_id = ${id}
    union all select asset_id, created_at from related_assets where related_id = ${id})`;
}

/** The ids of the related files that the caller is shown, the newest relation first, as a column (RELATED-1). */
export function relatedIds(caller: Caller, id: string): RawBuilder<string[]> {
  return sql`array(select a.id from ${relationsOf(id)} r join assets a on a.id = r.id
    where ${shownAssets(caller)} order by r.created_at desc, a.id desc limit ${mostRelated})`;
}
