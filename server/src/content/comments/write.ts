import { type Comment, createComment, deleteComment, updateComment } from '@vitrine/contract/comments';
import { type RawBuilder, sql } from 'kysely';
import { commentsReadIn, lockDiscussed, readableComments } from '../../access/annotations.ts';
import type { Caller, SignedIn } from '../../access/caller.ts';
import { deletableComments, editableComments, liveComment } from '../../access/comments.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfActivity } from '../../core/outbox/enqueue.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import { watchAsCommenter } from '../../people/notifications/watch.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { removeGuestComment } from '../guest-comments/thread.ts';
import { type CommentRow, commentColumns, showComment } from './show.ts';

/** Returns a comment that the caller reads, or throws 404. */
export async function readComment(db: Database, caller: Caller, id: string): Promise<Comment> {
  const { rows } = await sql<CommentRow>`
    select ${commentColumns(caller)} from comments c left join users cu on cu.ref = c.author_user_ref
      join posts p on p.id = c.post_id
    where c.id = ${id} and ${readableComments(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return showComment(row);
}

/** The root of a reply: threads have one level, so a reply to a reply gets the same root. */
interface Root {
  id: string;
  /** Whether it is an annotation. */
  annotates: boolean;
}

async function findRoot(tx: Tx, caller: Caller, postId: string, parentId: string): Promise<Root | null> {
  const { rows } = await sql<Root>`
    select coalesce(c.parent_id, c.id) as id, c.annotated_asset_id is not null as annotates from comments c
    where c.id = ${parentId} and c.post_id = ${postId} and ${commentsReadIn(caller, postId)}`.execute(tx);
  return rows[0] ?? null;
}

/** POST-31: with comments disabled, new comments and replies are 409; existing ones are unaffected. */
export const create = handle(createComment, async ({ db }, { caller, params, body }) => {
  const comment = await db.transaction().execute(async (tx) => {
    const post = await lockDiscussed(tx, caller, params.id);
    if (!post.comments_enabled) throw refuse('comments-disabled');
    const root = body.parent_id == null ? null : await findRoot(tx, caller, params.id, body.parent_id);
    // A draft has annotations, and these have answers (ANNOTATION-3).
    if (post.draft && root?.annotates !== true)
      throw post.readable ? refuse('draft-without-comments') : notFound();
    if (body.parent_id != null && root === null) throw refuse('comment-not-found');
    const { id } = await tx
      .insertInto('comments')
      .values({
        post_id: params.id,
        parent_id: root?.id ?? null,
        author_user_ref: caller.ref,
        body: body.body,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await watchAsCommenter(tx, caller.ref, params.id);
    await announce(tx, { what: 'comment', comment: id, answers: body.parent_id ?? null });
    await notifyPeersOfActivity(tx, params.id, {
      activity: 'create',
      kind: 'comment',
      objectId: id,
      actorRef: caller.ref,
    });
    return readComment(tx, caller, id);
  });
  return { status: 201, body: comment };
});

/**
 * Locks the post of a comment, then checks the caller's right: 404 when they may not read it, 403 when the comment is
 * not theirs.
 */
export async function lockComment(
  tx: Tx,
  caller: SignedIn,
  id: string,
  allowed: RawBuilder<boolean>,
): Promise<{ postId: string; authorRef: number | null; isReply: boolean }> {
  const found = await readComment(tx, caller, id);
  await lockDiscussed(tx, caller, found.post_id);
  const { rows } = await sql<{ allowed: boolean; author_user_ref: number | null }>`
    select ${allowed} as allowed, c.author_user_ref from comments c join posts p on p.id = c.post_id
    where c.id = ${id} and ${readableComments(caller)}`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (!row.allowed) throw refuse('comment-not-yours');
  return { postId: found.post_id, authorRef: row.author_user_ref, isReply: found.parent_id !== null };
}

export const edit = handle(updateComment, async ({ db }, { caller, params, body }) => {
  const comment = await db.transaction().execute(async (tx) => {
    const { postId } = await lockComment(tx, caller, params.id, editableComments(caller));
    if (body.body != null) {
      await tx
        .updateTable('comments')
        .set({ body: body.body, edited_at: sql`now()` })
        .where('id', '=', params.id)
        .execute();
      await announce(tx, { what: 'comment_edited', comment: params.id });
      await notifyPeersOfActivity(tx, postId, {
        activity: 'update',
        kind: 'comment',
        objectId: params.id,
        actorRef: caller.ref,
      });
    }
    return readComment(tx, caller, params.id);
  });
  return { status: 200, body: comment };
});

/** Deletes a comment with its replies, which no one could see any more. */
export const remove = handle(deleteComment, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    if (await removeGuestComment(tx, caller, params.id)) return;
    const { postId, authorRef } = await lockComment(tx, caller, params.id, deletableComments(caller));
    await sql`update comments c set deleted_at = now(), deleted_by_user_ref = ${caller.ref}
      where (c.id = ${params.id} or c.parent_id = ${params.id}) and ${liveComment}`.execute(tx);
    await notifyPeersOfActivity(tx, postId, {
      activity: 'delete',
      kind: 'comment',
      objectId: params.id,
      actorRef: caller.ref,
    });
    if (authorRef === caller.ref) return;
    await recordEvent(tx, caller, {
      event: 'comment.removed',
      ...(authorRef === null ? {} : { subjectUserRef: authorRef }),
      target: { kind: 'post', id: postId },
      metadata: { comment_id: params.id },
    });
  });
  return { status: 204 };
});
