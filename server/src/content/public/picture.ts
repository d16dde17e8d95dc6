import { type RawBuilder, sql } from 'kysely';
import { renderedHash } from '../../access/assets.ts';
import { picturesForVisitors } from '../../access/visitors.ts';
import type { Shape } from '../../media/ladder.ts';

/**
 * Selects the asset that represents a post `p` to visitors: the first of its thumbnail, its cover and its members that
 * visitors may see in this rendition. The columns are `asset_id` and `rendition`, the entry of `files.renditions`.
 */
export function pictureOfPost(rendition: string): RawBuilder<unknown> {
  return sql`(select a.id as asset_id, f.renditions -> ${rendition} as rendition from (
      select p.cover_thumbnail_asset_id as asset_id, -2 as place where p.cover_thumbnail_asset_id is not null
      union all
      select m.asset_id, case when m.asset_id = p.cover_asset_id then -1 else m.sort_order end
      from post_members m where m.post_id = p.id) candidate
    join assets a on a.id = candidate.asset_id join files f on f.hash = ${renderedHash}
    where ${picturesForVisitors} and f.renditions ? ${rendition}
    order by candidate.place, a.id limit 1)`;
}

/** The rendition that is offered to other sites. */
export const PICTURE = 'preview';

/** A rendition that visitors may see. */
export interface Picture extends Shape {
  assetId: string;
  /** Path and query, relative to the base URL. */
  path: string;
  /** Media type. */
  type: string;
}

/** The columns of `pictureOfPost`. */
export interface PictureRow {
  asset_id: string | null;
  rendition: { type: string; width: number; height: number } | null;
}

/** Returns the offered rendition of a row with the columns of `pictureOfPost`, or null if it has none. */
export function pictureRow(row: PictureRow | undefined): Picture | null {
  if (row === undefined || row.asset_id === null || row.rendition === null) return null;
  const { type, width, height } = row.rendition;
  const path = `/api/v1/assets/${row.asset_id}/variants/${PICTURE}`;
  return { assetId: row.asset_id, path, type, width, height };
}
