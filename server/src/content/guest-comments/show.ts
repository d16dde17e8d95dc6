import type { Anchor, Annotation } from '@vitrine/contract/annotations';
import type { Stroke } from '@vitrine/contract/strokes';
import { sql } from 'kysely';
import type { Columns } from '../../platform/database/pool.ts';

/** A comment `gc` of a guest `g`, read with `guestCommentColumns`. */
export interface GuestCommentRow
  extends Columns<'guest_comments', 'id' | 'asset_id' | 'body' | 'created_at'> {
  version: number | null;
  anchor: Anchor | null;
  strokes: Stroke[] | null;
  guest_id: string;
  guest_name: string;
}

export const guestCommentColumns = sql<GuestCommentRow>`gc.id, gc.asset_id, gc.body, gc.version, gc.anchor, gc.strokes,
  gc.created_at, g.id as guest_id, g.name as guest_name`;

/** Returns what an annotation is about; null for other comments. */
export function annotationOf({
  asset_id,
  version,
  anchor,
  strokes,
}: Pick<GuestCommentRow, 'asset_id' | 'version' | 'anchor' | 'strokes'>): Annotation | null {
  if (asset_id === null || version === null || anchor === null) return null;
  return { asset_id, version, anchor, ...(strokes === null ? {} : { strokes }) };
}
