import type { AssetSelection } from '@vitrine/contract/batches';
import type { Collection } from '@vitrine/contract/collections';
import type { Origin } from '@vitrine/contract/federation';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Legacy } from '@vitrine/contract/legacy';
import { countedPosts } from '@vitrine/contract/limits';
import { type RawBuilder, sql } from 'kysely';
import { feedPosts, renderedHash, servedAssets, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import {
  editableCollections,
  filesShown,
  filledByHand,
  readableCollections,
} from '../../access/collections.ts';
import { identityJson, originJson } from '../../access/identities.ts';
import { legacyJson } from '../../access/legacy.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { matchingFiles } from './filling.ts';

/** Number of pictures in a mosaic. */
const MOST_COVERS = 4;

interface CollectionRow
  extends Columns<
    'collections',
    | 'id'
    | 'owner_user_ref'
    | 'name'
    | 'description'
    | 'visibility'
    | 'cover_post_id'
    | 'cover_focal_x'
    | 'cover_focal_y'
    | 'cover_focal_asset_id'
    | 'expires_at'
    | 'created_at'
    | 'updated_at'
  > {
  owner: PostAuthor | null;
  editable: boolean;
  has_files: boolean;
  query: AssetSelection | null;
  origin: Origin | null;
  legacy: Legacy | null;
  covers: Collection['covers'] | null;
  item_count: number;
}

/**
 * COLLECTION-10: the picture of a post `p` that the caller sees: its thumbnail, else its cover, else the first member.
 * No row when they see none.
 */
function pictureOfPost(caller: Caller): RawBuilder<unknown> {
  return sql`(select a.id as asset_id, (${servedAssets(caller)} and f.renditions ? 'col') as preview_available
    from (
      select p.cover_thumbnail_asset_id as asset_id, 0 as choice, 0 as sort_order
      where p.cover_thumbnail_asset_id is not null
      union all
      select m.asset_id, case when m.asset_id = p.cover_asset_id then 1 else 2 end, m.sort_order
      from post_members m where m.post_id = p.id
    ) candidate
    join assets a on a.id = candidate.asset_id join files f on f.hash = ${renderedHash}
    where ${shownAssets(caller)}
    order by candidate.choice, candidate.sort_order, a.id limit 1)`;
}

/** The picture of a file `a` of a collection, for each file that the caller is shown. */
function pictureOfFile(caller: Caller): RawBuilder<unknown> {
  return sql`a.id as asset_id, (${servedAssets(caller)} and f.renditions ? 'col') as preview_available`;
}

/** Up to four pictures of a collection `c`: the chosen post's, then in order. Stops at the fourth. */
function coversJson(caller: Caller): RawBuilder<unknown> {
  const pictured = sql`from collection_posts cp join posts p on p.id = cp.post_id
    cross join lateral ${pictureOfPost(caller)} picture
    where cp.collection_id = c.id and ${feedPosts(caller)}`;
  const columns = sql`cp.position, cp.post_id, picture.asset_id, picture.preview_available`;
  return sql`(select json_agg(json_build_object('asset_id', cover.asset_id,
      'preview_available', cover.preview_available) order by cover.turn, cover.position, cover.post_id)
    from (
      (select 0 as turn, ${columns} ${pictured} and cp.post_id = c.cover_post_id)
      union all
      (select 1 as turn, ${columns} ${pictured} and cp.post_id is distinct from c.cover_post_id
        order by cp.position, cp.post_id limit ${MOST_COVERS})
      union all
      (select 1, ca.position, ca.asset_id, ${pictureOfFile(caller)}
        from collection_assets ca join assets a on a.id = ca.asset_id join files f on f.hash = ${renderedHash}
        where ca.collection_id = c.id and ${filesShown(caller)}
        order by ca.position, ca.asset_id limit ${MOST_COVERS})
      order by turn, position, post_id limit ${MOST_COVERS}
    ) cover)`;
}

/** How many posts and files of a collection `c` the caller sees, up to the counting limit. */
function itemCount(caller: Caller, most: number): RawBuilder<number> {
  return sql`(select count(*) from (
    (select from collection_posts cp join posts p on p.id = cp.post_id
      where cp.collection_id = c.id and ${feedPosts(caller)} limit ${most})
    union all
    (select from collection_assets ca join assets a on a.id = ca.asset_id
      where ca.collection_id = c.id and ${filesShown(caller)} limit ${most})
    limit ${most}) counted)`;
}

/** Counts what a smart collection shows the caller, and takes its covers from the newest (COLLECTION-23). */
async function readFilled(
  db: Database,
  caller: Caller,
  query: AssetSelection,
  most: number,
): Promise<Pick<CollectionRow, 'covers' | 'item_count'>> {
  const shown = sql`${filesShown(caller)} and ${await matchingFiles(db, caller, query)}`;
  const { rows } = await sql<Pick<CollectionRow, 'covers' | 'item_count'>>`
    select (select count(*) from (select from assets a where ${shown} limit ${most}) counted) as item_count,
      (select json_agg(json_build_object('asset_id', one.asset_id, 'preview_available', one.preview_available)
          order by one.created_at desc, one.asset_id desc)
        from (select a.created_at, ${pictureOfFile(caller)} from assets a join files f on f.hash = ${renderedHash}
          where ${shown} order by a.created_at desc, a.id desc limit ${MOST_COVERS}) one) as covers`.execute(
    db,
  );
  return rows[0] ?? { covers: null, item_count: 0 };
}

/** The chosen cover, if the caller sees that post in this collection. */
function chosenCover(caller: Caller): RawBuilder<string | null> {
  return sql`(select p.id from collection_posts cp join posts p on p.id = cp.post_id
    where cp.collection_id = c.id and cp.post_id = c.cover_post_id and ${feedPosts(caller)})`;
}

/** A focal point belongs to the picture for which it was set, and is returned while that one comes first. */
function show({
  owner,
  editable,
  query,
  origin,
  legacy,
  cover_focal_asset_id,
  ...row
}: CollectionRow): Collection {
  const covers = row.covers ?? [];
  const keepsFocal = cover_focal_asset_id !== null && covers[0]?.asset_id === cover_focal_asset_id;
  return {
    ...row,
    ...(owner === null ? {} : { owner }),
    ...(origin === null ? {} : { origin }),
    ...(legacy === null ? {} : { legacy }),
    covers,
    smart: query !== null,
    has_files: query !== null || row.has_files,
    ...(query === null || !editable ? {} : { query }),
    cover_focal_x: keepsFocal ? row.cover_focal_x : null,
    cover_focal_y: keepsFocal ? row.cover_focal_y : null,
  };
}

/**
 * Returns collections that meet a condition on `collections c`, as the caller sees them, in one statement, and a few
 * more for each smart one. `rest` orders and limits them before anything is counted.
 */
export async function showCollections(
  db: Database,
  caller: Caller,
  which: RawBuilder<boolean>,
  rest: RawBuilder<unknown>,
  counted: number = countedPosts.onList,
): Promise<Collection[]> {
  const { rows } = await sql<CollectionRow>`
    select c.id, c.owner_user_ref, ${identityJson(caller, 'u')} as owner, c.name, c.description, c.visibility,
      ${editableCollections(caller)} as editable, c.query,
      case when ${filledByHand} then ${chosenCover(caller)} end as cover_post_id, c.cover_focal_x, c.cover_focal_y, c.cover_focal_asset_id,
      case when ${filledByHand} then ${coversJson(caller)} end as covers,
      case when ${filledByHand} then ${itemCount(caller, counted)} else 0 end as item_count, c.expires_at,
      exists (select from collection_assets ca join assets a on a.id = ca.asset_id
        where ca.collection_id = c.id and ${filesShown(caller)}) as has_files,
      ${originJson('c')} as origin, ${legacyJson(caller, 'collection', 'c.id')} as legacy, c.created_at, c.updated_at
    from (select c.* from collections c where ${which} ${rest}) c
      left join users u on u.ref = c.owner_user_ref
    order by c.created_at desc, c.id desc`.execute(db);
  const collections: Collection[] = [];
  for (const row of rows) {
    const filled = row.query === null ? {} : await readFilled(db, caller, row.query, counted);
    collections.push(show({ ...row, ...filled }));
  }
  return collections;
}

/** Returns one collection under the read rule, or throws 404. */
export async function showCollection(db: Database, caller: Caller, id: string): Promise<Collection> {
  const [collection] = await showCollections(
    db,
    caller,
    sql`c.id = ${id} and ${readableCollections(caller)}`,
    sql``,
    countedPosts.alone,
  );
  if (collection === undefined) throw notFound();
  return collection;
}
