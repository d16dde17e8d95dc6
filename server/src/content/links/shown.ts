import { type RawBuilder, sql } from 'kysely';
import { renderedHash } from '../../access/assets.ts';
import {
  type LinkVisitor,
  linkedAssets,
  linkedFiles,
  linkedPosts,
  linkedVersion,
  passedOn,
} from '../../access/links.ts';
import type { StoredRendition } from '../../core/deps.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { type NestedPlaceKey, nestedCursor } from '../../platform/http/cursor.ts';
import { thumbhashColumn } from '../assets/show.ts';

/** An asset that a link shows, with its position. */
export interface ShownRow
  extends Columns<
      'assets',
      'id' | 'title' | 'description' | 'file_name' | 'file_hash' | 'processing_status' | 'created_at'
    >,
    Columns<'files', 'mime' | 'extension' | 'size_bytes' | 'pixel_width' | 'pixel_height' | 'thumbhash'> {
  post_id: string | null;
  post_title: string | null;
  renditions: Record<string, StoredRendition>;
  /** The hash of the file that they show. */
  rendered_hash: string;
  /** Strings, because they may exceed what a number carries exactly. */
  outer_place: string;
  inner_place: string;
}

/** The hash of the file whose renditions are shown of the version `v` of an asset `a`, as `renderedHash` of the current one. */
export const linkedRenditions = sql<string>`case when v.number is null then ${renderedHash} else v.file_hash end`;

const columns = sql`a.id, a.title, a.description, f.mime, f.extension, v.file_name, v.file_hash, f.size_bytes,
  i.pixel_width, i.pixel_height, ${thumbhashColumn},
  case when v.number is null then a.processing_status else 'ready' end as processing_status, i.renditions,
  i.hash as rendered_hash, a.created_at`;

/** The files of an asset `a` that the visitor is shown: `f` the original, `i` the one whose renditions are shown. */
function withFiles(visitor: LinkVisitor): RawBuilder<unknown> {
  return sql`cross join ${linkedVersion(visitor)} join files f on f.hash = v.file_hash
    join files i on i.hash = ${linkedRenditions}`;
}

/** Rows after a key, which begins with the position of the post or file in a collection. */
function after(from: NestedPlaceKey | null, key: RawBuilder<unknown>): RawBuilder<boolean> {
  if (from === null) return sql`true`;
  return sql`${key}
    > (${from.outer.place}::bigint, ${from.outer.id}::uuid, ${from.inner.place}::integer, ${from.inner.id}::uuid)`;
}

/** Selects the members of the posts that a link to a post or collection shows. */
function membersShown(visitor: LinkVisitor, from: NestedPlaceKey | null, most: number): RawBuilder<unknown> {
  const { kind, id } = visitor.target;
  const outer = kind === 'post' ? sql`0::bigint` : sql`cp.position`;
  const placed =
    kind === 'post' ? sql`` : sql`join collection_posts cp on cp.post_id = p.id and cp.collection_id = ${id}`;
  return sql`select ${columns}, p.id as post_id, p.title as post_title, ${outer} as outer_place,
      p.id as outer_id, m.sort_order as inner_place
    from posts p ${placed} join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
      ${withFiles(visitor)}
    where ${linkedPosts(visitor.target)} and ${passedOn}
      and ${after(from, sql`(${outer}, m.post_id, m.sort_order, m.asset_id)`)}
    order by ${outer}, m.post_id, m.sort_order, m.asset_id limit ${most}`;
}

/** Selects the files that a link to a collection shows by themselves. The newest of a smart collection come first. */
function filesShown(visitor: LinkVisitor, from: NestedPlaceKey | null, most: number): RawBuilder<unknown> {
  const { id } = visitor.target;
  const isSmart = visitor.filling !== null;
  const outer = isSmart ? sql`(-1000000 * extract(epoch from a.created_at))::bigint` : sql`ca.position`;
  const placed = isSmart
    ? sql``
    : sql`join collection_assets ca on ca.asset_id = a.id and ca.collection_id = ${id}`;
  return sql`select ${columns}, null::uuid as post_id, null::text as post_title, ${outer} as outer_place,
      a.id as outer_id, 0 as inner_place
    from assets a ${placed} ${withFiles(visitor)}
    where ${linkedFiles(visitor)} and ${after(from, sql`(${outer}, a.id, 0, a.id)`)}
    order by ${outer}, a.id limit ${most}`;
}

/** Returns at most `most` of the assets that a link shows, in its target's order; one statement. */
export async function readShown(
  db: Database,
  visitor: LinkVisitor,
  from: NestedPlaceKey | null,
  most: number,
): Promise<ShownRow[]> {
  const { kind } = visitor.target;
  if (kind === 'asset') {
    const { rows } = await sql<ShownRow>`
      select ${columns}, null as post_id, null as post_title, '0' as outer_place, '0' as inner_place
      from assets a ${withFiles(visitor)}
      where ${linkedAssets(visitor)} and ${from === null}::boolean`.execute(db);
    return rows;
  }
  const files = kind === 'collection' ? sql`union all (${filesShown(visitor, from, most)})` : sql``;
  const { rows } = await sql<ShownRow>`
    select s.id, s.title, s.description, s.mime, s.extension, s.file_name, s.file_hash, s.size_bytes, s.pixel_width,
      s.pixel_height, s.thumbhash, s.processing_status, s.renditions, s.rendered_hash,
      s.created_at, s.post_id, s.post_title,
      s.outer_place::text as outer_place, s.inner_place::text as inner_place
    from ((${membersShown(visitor, from, most)}) ${files}) s
    order by s.outer_place, s.outer_id, s.inner_place, s.id limit ${most}`.execute(db);
  return rows;
}

/** Returns the key of a row, for the next page. */
export function keyOf(row: ShownRow): NestedPlaceKey {
  return {
    outer: { place: row.outer_place, id: row.post_id ?? row.id },
    inner: { place: row.inner_place, id: row.id },
  };
}

/** Encodes the cursor after a row. */
export function cursorOf(row: ShownRow): string {
  return nestedCursor.after(keyOf(row));
}
