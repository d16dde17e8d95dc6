import type { TargetKind } from '@vitrine/contract/links';
import { type RawBuilder, sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import { linkedPosts, passedOn } from '../../access/links.ts';
import type { Database } from '../../platform/database/pool.ts';

/** The column of `share_links` for a target of this kind. */
const columns = { post: 'post_id', asset: 'asset_id', collection: 'collection_id' } as const;

export function targetColumn(kind: TargetKind): RawBuilder<unknown> {
  return sql.ref(columns[kind]);
}

/** `target_kind` and `target_id` of a row of `share_links l`. */
export const targetColumns = sql`case when l.post_id is not null then 'post' when l.asset_id is not null then 'asset'
  else 'collection' end as target_kind, coalesce(l.post_id, l.asset_id, l.collection_id) as target_id`;

/** Returns how many live assets of the target a link leaves out, for its editors. */
export async function countOmitted(db: Database, kind: TargetKind, id: string): Promise<number> {
  if (kind === 'asset') return 0;
  const { rows } = await sql<{ omitted: number }>`
    select count(distinct a.id) as omitted
    from posts p join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
    where ${kind === 'post' ? sql`p.id = ${id}` : linkedPosts({ kind, id })} and ${liveAsset}
      and not ${passedOn}`.execute(db);
  return rows[0]?.omitted ?? 0;
}
