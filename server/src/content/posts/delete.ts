import { deletePost } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfVisibility } from '../../core/outbox/enqueue.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { lockEditable } from './edit.ts';

/** Moves a post to the trash, with deleter and reason (POST-37). A post that is already there is a 404. */
export const remove = handle(deletePost, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const post = await lockEditable(tx, caller, params.id);
    await tx
      .updateTable('posts')
      .set({ deleted_at: sql`now()`, deleted_reason: body?.reason ?? null, deleted_by_user_ref: caller.ref })
      .where('id', '=', post.id)
      .execute();
    await notifyPeersOfVisibility(tx, post.id, { activity: 'update', actorRef: caller.ref });
    await recordEvent(tx, caller, {
      event: 'post.deleted',
      target: { kind: 'post', id: post.id },
      metadata: { reason: body?.reason ?? null },
    });
  });
  return { status: 204 };
});
