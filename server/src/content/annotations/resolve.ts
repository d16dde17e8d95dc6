import { assignComment, type Comment, reopenComment, resolveComment } from '@vitrine/contract/comments';
import { sql } from 'kysely';
import { readableComments, resolvableComments } from '../../access/annotations.ts';
import type { SignedIn } from '../../access/caller.ts';
import { callersOf } from '../../access/caller-of.ts';
import { handle } from '../../core/handle.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { lockComment, readComment } from '../comments/write.ts';

/** Changes a top-level comment that the caller may resolve, and returns it. */
async function change(
  db: Database,
  caller: SignedIn,
  id: string,
  write: (tx: Tx) => Promise<unknown>,
): Promise<{ status: 200; body: Comment }> {
  const body = await db.transaction().execute(async (tx) => {
    const { isReply } = await lockComment(tx, caller, id, resolvableComments(caller));
    if (isReply) throw refuse('comment-is-reply');
    await write(tx);
    return readComment(tx, caller, id);
  });
  return { status: 200, body };
}

/** ANNOTATION-8: keeps who resolved it first. */
export const resolve = handle(resolveComment, ({ db }, { caller, params }) =>
  change(db, caller, params.id, (tx) =>
    tx
      .updateTable('comments')
      .set({ resolved_at: sql<string>`now()`, resolved_by_user_ref: caller.ref })
      .where('id', '=', params.id)
      .where('resolved_at', 'is', null)
      .execute(),
  ),
);

export const reopen = handle(reopenComment, ({ db }, { caller, params }) =>
  change(db, caller, params.id, (tx) =>
    tx
      .updateTable('comments')
      .set({ resolved_at: null, resolved_by_user_ref: null })
      .where('id', '=', params.id)
      .execute(),
  ),
);

/** Throws 404 unless this account may read the comment: an assignment reveals nothing (ANNOTATION-9). */
async function checkReadableBy(tx: Tx, userRef: number, id: string): Promise<void> {
  const [assignee] = await callersOf(tx, sql`u.ref = ${userRef}`, 1);
  if (assignee === undefined) throw refuse('user-not-found');
  const { rows } = await sql`select from comments c join posts p on p.id = c.post_id
    where c.id = ${id} and ${readableComments(assignee)}`.execute(tx);
  if (rows.length === 0) throw refuse('user-not-found');
}

export const assign = handle(assignComment, ({ db }, { caller, params, body }) =>
  change(db, caller, params.id, async (tx) => {
    if (body.user_ref !== null) await checkReadableBy(tx, body.user_ref, params.id);
    const assigned = await tx
      .updateTable('comments')
      .set({ assignee_user_ref: body.user_ref })
      .where('id', '=', params.id)
      .where('assignee_user_ref', 'is distinct from', body.user_ref)
      .returning(sql<string>`now()::timestamptz(3)`.as('at'))
      .executeTakeFirst();
    if (assigned === undefined || body.user_ref === null) return;
    const { at } = assigned;
    const { id: comment } = params;
    await announce(tx, { what: 'assigned', comment, assignee: body.user_ref, actor: caller.ref, at });
  }),
);
