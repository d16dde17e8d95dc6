import { type RawBuilder, sql } from 'kysely';
import { type LinkVisitor, linkedAssets, linkedPosts, passedOn } from '../../access/links.ts';
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
  /** Strings, because they may exceed what a number carries exactly. */
  outer_place: string;
  inner_place: string;
}

const columns = sql`a.id, a.title, a.description, f.mime, f.extension, a.file_name, a.file_hash, f.size_bytes,
  f.pixel_width, f.pixel_height, ${thumbhashColumn}, a.processing_status, f.renditions, a.created_at`;

/** Rows after a key, which begins with the position of the post in a collection. */
function after(from: NestedPlaceKey | null, outer: RawBuilder<unknown>): RawBuilder<boolean> {
  if (from === null) return sql`true`;
  return sql`(${outer}, m.post_id, m.sort_order, m.asset_id)
    > (${from.outer.place}::bigint, ${from.outer.id}::uuid, ${from.inner.place}::integer, ${from.inner.id}::uuid)`;
}

/** Returns at most `most` of the assets that a link shows, ordered by posts and then members; one statement. */
export async function readShown(
  db: Database,
  visitor: LinkVisitor,
  from: NestedPlaceKey | null,
  most: number,
): Promise<ShownRow[]> {
  const { kind, id } = visitor.target;
  if (kind === 'asset') {
    const { rows } = await sql<ShownRow>`
      select ${columns}, null as post_id, null as post_title, '0' as outer_place, '0' as inner_place
      from assets a join files f on f.hash = a.file_hash
      where ${linkedAssets(visitor)} and ${from === null}::boolean`.execute(db);
    return rows;
  }
  const outer = kind === 'post' ? sql`0::bigint` : sql`cp.position`;
  const placed =
    kind === 'post' ? sql`` : sql`join collection_posts cp on cp.post_id = p.id and cp.collection_id = ${id}`;
  const { rows } = await sql<ShownRow & { post_id: string; post_title: string }>`
    select ${columns}, p.id as post_id, p.title as post_title, ${outer}::text as outer_place,
      m.sort_order::text as inner_place
    from posts p ${placed} join post_members m on m.post_id = p.id join assets a on a.id = m.asset_id
      join files f on f.hash = a.file_hash
    where ${linkedPosts(visitor.target)} and ${passedOn} and ${after(from, outer)}
    order by ${outer}, m.post_id, m.sort_order, m.asset_id limit ${most}`.execute(db);
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

/** Returns the extension of the bytes' type, else of the file's name, else null. */
export function extensionOf({
  extension,
  file_name,
}: Pick<ShownRow, 'extension' | 'file_name'>): string | null {
  return extension ?? /\.([A-Za-z0-9]{1,10})$/.exec(file_name)?.[1]?.toLowerCase() ?? null;
}
