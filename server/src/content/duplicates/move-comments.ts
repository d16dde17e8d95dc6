import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { versionsOfAsset } from '../assets/version-rows.ts';
import type { Merge } from './groups.ts';

/** The versions of the kept asset and of the others, for `keptVersion`. */
const versions = ({ keep, remove }: Merge): RawBuilder<unknown> => sql`
  kept as (select v.number, v.file_hash from assets a cross join ${versionsOfAsset} where a.id = ${keep}),
  given as (select a.id as asset_id, v.number, v.file_hash from assets a cross join ${versionsOfAsset}
    where a.id = any(${[...remove]}::uuid[]))`;

/** The version of the kept asset with the bytes of this version of another one, otherwise its current version. */
const keptVersion = (assetId: RawBuilder<unknown>, number: RawBuilder<unknown>): RawBuilder<number> =>
  sql`coalesce((select max(k.number) from kept k join given g on g.file_hash = k.file_hash
    where g.asset_id = ${assetId} and g.number = ${number}), (select max(k.number) from kept k))`;

/** Moves the annotations of the removed assets in these posts to the kept one, which has their place there. */
async function moveAnnotations(tx: Tx, merge: Merge, posts: readonly string[]): Promise<void> {
  const moved = sql`c.post_id = any(${[...posts]}::uuid[]) and c.annotated_asset_id = any(${[...merge.remove]}::uuid[])`;
  await sql`with ${versions(merge)}
    update annotations n set version = ${keptVersion(sql`c.annotated_asset_id`, sql`n.version`)}
    from comments c where c.id = n.comment_id and ${moved}`.execute(tx);
  const { numAffectedRows } = await sql`
    update comments c set annotated_asset_id = ${merge.keep} where ${moved}`.execute(tx);
  // Their words are searched by asset.
  if (numAffectedRows !== 0n) await sql`select write_annotation_documents(${[...posts]}::uuid[])`.execute(tx);
}

/** Moves comments and picks of guests to the kept asset, except on links that still show the removed one by itself. */
async function moveGuestFeedback(tx: Tx, merge: Merge): Promise<void> {
  const gone = [...merge.remove];
  await sql`with ${versions(merge)}
    update guest_comments c set asset_id = ${merge.keep},
      version = case when c.version is not null then ${keptVersion(sql`c.asset_id`, sql`c.version`)} end
    from share_links l where l.id = c.link_id and c.asset_id = any(${gone}::uuid[])
      and l.asset_id is distinct from c.asset_id`.execute(tx);
  await sql`with taken as (delete from link_picks k using share_links l
      where l.id = k.link_id and k.asset_id = any(${gone}::uuid[]) and l.asset_id is distinct from k.asset_id
      returning k.link_id, k.guest_id, k.picked_at)
    insert into link_picks (link_id, guest_id, asset_id, picked_at)
    select distinct on (t.guest_id) t.link_id, t.guest_id, ${merge.keep}::uuid, t.picked_at from taken t
    order by t.guest_id, t.picked_at
    on conflict (guest_id, asset_id) do nothing`.execute(tx);
}

/** Moves what people and guests wrote about the removed assets, after their places and links (DUPLICATE-7). */
export async function moveComments(tx: Tx, merge: Merge, posts: readonly string[]): Promise<void> {
  await moveAnnotations(tx, merge, posts);
  await moveGuestFeedback(tx, merge);
}
