import { getLike, likePost, unlikePost } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfActivity } from '../../core/outbox/enqueue.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';

/** Returns the caller's like and the number of likes; 404 for a post they may not read. */
async function readLike(db: Database, caller: Caller, postId: string) {
  const ref = caller.kind === 'anonymous' ? null : caller.ref;
  const { rows } = await sql<{ liked: boolean; like_count: number }>`
    select p.like_count, exists (
      select from post_likes l where l.post_id = p.id and l.user_ref = ${ref}) as liked
    from posts p where p.id = ${postId} and ${readablePosts(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}

export const showLike = handle(getLike, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await readLike(db, caller, params.id),
}));

/** Idempotent; a trigger keeps the count equal to the number of rows. */
export const like = handle(likePost, async ({ db }, { caller, params }) => {
  const body = await db.transaction().execute(async (tx) => {
    await readLike(tx, caller, params.id);
    const { numInsertedOrUpdatedRows: liked } = await tx
      .insertInto('post_likes')
      .values({ post_id: params.id, user_ref: caller.ref })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (liked === 1n) {
      await announce(tx, { what: 'like', post: params.id, actor: caller.ref });
      await notifyPeersOfActivity(tx, params.id, {
        activity: 'like',
        kind: 'post',
        objectId: params.id,
        actorRef: caller.ref,
      });
    }
    return readLike(tx, caller, params.id);
  });
  return { status: 200, body };
});

export const unlike = handle(unlikePost, async ({ db }, { caller, params }) => {
  const body = await db.transaction().execute(async (tx) => {
    await readLike(tx, caller, params.id);
    const { numDeletedRows: unliked } = await tx
      .deleteFrom('post_likes')
      .where('post_id', '=', params.id)
      .where('user_ref', '=', caller.ref)
      .executeTakeFirst();
    if (unliked === 1n) {
      await notifyPeersOfActivity(tx, params.id, {
        activity: 'unlike',
        kind: 'post',
        objectId: params.id,
        actorRef: caller.ref,
      });
    }
    return readLike(tx, caller, params.id);
  });
  return { status: 200, body };
});
