import type { TargetKind } from '@vitrine/contract/links';
import { type RawBuilder, sql } from 'kysely';
import { hasApprovals } from '../../access/approvals.ts';
import { liveAsset } from '../../access/assets.ts';
import { filledByHand } from '../../access/collections.ts';
import { filesOfCollection, passedOn, postsOfCollection } from '../../access/links.ts';
import type { Database } from '../../platform/database/pool.ts';

/** The column of `share_links` for a target of this kind. */
const columns = { post: 'post_id', asset: 'asset_id', collection: 'collection_id' } as const;

export function targetColumn(kind: TargetKind): RawBuilder<unknown> {
  return sql.ref(columns[kind]);
}

/** `target_kind` and `target_id` of a row of `share_links l`. */
export const targetColumns = sql`case when l.post_id is not null then 'post' when l.asset_id is not null then 'asset'
  else 'collection' end as target_kind, coalesce(l.post_id, l.asset_id, l.collection_id) as target_id`;

/** Returns how many live assets a link to each of these targets leaves out, by id of the target; one statement. */
export async function countOmittedOf(
  db: Database,
  targets: readonly { target_kind: TargetKind; target_id: string }[],
): Promise<Map<string, number>> {
  const idsOf = (kind: TargetKind) => [
    ...new Set(targets.flatMap((target) => (target.target_kind === kind ? [target.target_id] : []))),
  ];
  const { rows } = await sql<{ id: string; omitted: number }>`
    select omitted.id, count(*) as omitted from (
      select target.id, a.id as asset_id
      from (
      select given.id, given.id as post_id, true as approved from unnest(${idsOf('post')}::uuid[]) given (id)
      union all
      select c.id, p.id, ${hasApprovals('links')} from collections c join collection_posts cp on cp.collection_id = c.id
        join posts p on p.id = cp.post_id
      where c.id = any(${idsOf('collection')}::uuid[]) and ${filledByHand} and ${postsOfCollection}
    ) target join posts p on p.id = target.post_id join post_members m on m.post_id = p.id
      join assets a on a.id = m.asset_id
    where ${liveAsset} and not (target.approved and ${passedOn})
    union
    select c.id, a.id from collections c join collection_assets ca on ca.collection_id = c.id
      join assets a on a.id = ca.asset_id
    where c.id = any(${idsOf('collection')}::uuid[]) and ${filledByHand} and ${liveAsset} and not ${filesOfCollection}
    ) omitted group by omitted.id`.execute(db);
  return new Map(rows.map(({ id, omitted }) => [id, omitted]));
}

/** Returns how many live assets of the target a link leaves out, for its editors. */
export async function countOmitted(db: Database, kind: TargetKind, id: string): Promise<number> {
  if (kind === 'asset') return 0;
  return (await countOmittedOf(db, [{ target_kind: kind, target_id: id }])).get(id) ?? 0;
}
