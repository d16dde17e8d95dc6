import type { CommentRoot, listComments } from '@vitrine/contract/comments';
import type { QueryOf } from '@vitrine/contract/operation';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { guestCommentsIn, removableGuestComments } from '../../access/guests.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import type { NewestFirst } from '../../platform/http/page.ts';
import { type GuestCommentRow, guestCommentColumns, showInThread } from './show.ts';

/** Comments of guests in the thread of a post, for its editors (GUEST-7). */

/** Returns the conditions of a list; null if no comment of a guest meets them. */
function filtersOf({
  asset_id,
  resolved,
  annotated,
  author_ref,
  assignee,
}: QueryOf<typeof listComments>): RawBuilder<boolean> | null {
  if (resolved === true || author_ref !== undefined || assignee !== undefined) return null;
  const kind =
    annotated === undefined
      ? sql``
      : annotated
        ? sql` and gc.anchor is not null`
        : sql` and gc.anchor is null`;
  const file = asset_id === undefined ? sql`` : sql` and gc.asset_id = ${asset_id} and gc.anchor is not null`;
  return sql`true${kind}${file}`;
}

/** Returns one more than a page of the comments of guests that the caller reads in this thread, newest first. */
export async function readGuestThread(
  db: Database,
  caller: SignedIn,
  postId: string,
  query: QueryOf<typeof listComments>,
  page: NewestFirst,
): Promise<CommentRoot[]> {
  const filters = filtersOf(query);
  if (filters === null) return [];
  const { rows } = await sql<GuestCommentRow>`
    select ${guestCommentColumns} from guest_comments gc join link_guests g on g.id = gc.guest_id
    where ${guestCommentsIn(caller, postId)} and ${filters} and ${page.after} ${page.order}`.execute(db);
  return rows.map((row) => ({ ...showInThread(postId, row), replies: [] }));
}

/** Removes a comment of a guest for an editor of the target of its link; returns false if there is none. */
export async function removeGuestComment(tx: Tx, caller: SignedIn, id: string): Promise<boolean> {
  const { rows } = await sql<{ link_id: string; label: string; name: string }>`
    update guest_comments gc set deleted_at = now(), deleted_by_user_ref = ${caller.ref}
    from share_links l, link_guests g
    where gc.id = ${id} and l.id = gc.link_id and g.id = gc.guest_id and ${removableGuestComments(caller)}
    returning gc.link_id, l.label, g.name`.execute(tx);
  const row = rows[0];
  if (row === undefined) return false;
  await recordEvent(tx, caller, {
    event: 'link.feedback_removed',
    target: { kind: 'link', id: row.link_id },
    metadata: { label: row.label, guest: row.name, comment_id: id },
  });
  return true;
}
