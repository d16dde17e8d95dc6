import { deletePost } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { recordEvent } from '../audit/record.ts';
import { handle } from '../handle.ts';
import { lockEditable } from './edit.ts';

/** Into the trash, with who and why (POST-37). What is there already is a 404. */
export const remove = handle(deletePost, async ({ db }, { caller, params, body }) => {
  await db.transaction().execute(async (tx) => {
    const post = await lockEditable(tx, caller, params.id);
    await tx
      .updateTable('posts')
      .set({ deleted_at: sql`now()`, deleted_reason: body?.reason ?? null, deleted_by_user_ref: caller.ref })
      .where('id', '=', post.id)
      .execute();
    await recordEvent(tx, caller, {
      event: 'post.deleted',
      target: { kind: 'post', id: post.id },
      metadata: { reason: body?.reason ?? null },
    });
  });
  return { status: 204 };
});
