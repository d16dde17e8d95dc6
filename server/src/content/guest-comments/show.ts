import type { Anchor, Annotation } from '@vitrine/contract/annotations';
import type { Comment } from '@vitrine/contract/comments';
import type { LinkComment } from '@vitrine/contract/guests';
import type { Stroke } from '@vitrine/contract/strokes';
import { sql } from 'kysely';
import type { LinkVisitor } from '../../access/links.ts';
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

/** Returns a comment as the visitors of its link see it. */
export function showLinkComment({ guest }: Pick<LinkVisitor, 'guest'>, row: GuestCommentRow): LinkComment {
  const annotation = annotationOf(row);
  return {
    id: row.id,
    guest: { name: row.guest_name },
    own: row.guest_id === guest?.id,
    ...(row.asset_id === null ? {} : { asset_id: row.asset_id }),
    body: row.body,
    ...(annotation === null ? {} : { annotation }),
    created_at: row.created_at,
  };
}

/** Returns a comment as the editors of a post see it in its thread. */
export function showInThread(postId: string, row: GuestCommentRow): Comment {
  const annotation = annotationOf(row);
  return {
    id: row.id,
    post_id: postId,
    parent_id: null,
    body: row.body,
    created_at: row.created_at,
    edited_at: null,
    guest: { name: row.guest_name },
    like_count: 0,
    liked: false,
    reply_count: 0,
    ...(annotation === null ? {} : { annotation }),
  };
}
