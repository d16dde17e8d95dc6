import { getWatch, unwatchPost, watchPost } from '@vitrine/contract/notifications';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { readablePosts } from '../../access/posts.ts';
import { checkReadable } from '../../access/readable-posts.ts';
import { handle } from '../../core/handle.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';

/** Returns whether the caller watches a post they read: by choice, or as its author. */
async function readWatch(db: Database, caller: SignedIn, postId: string) {
  const { rows } = await sql<{ watching: boolean }>`
    select coalesce((select w.watching from post_watches w where w.post_id = p.id and w.user_ref = ${caller.ref}),
      p.author_user_ref = ${caller.ref}) as watching
    from posts p where p.id = ${postId} and ${readablePosts(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}

async function choose(db: Database, caller: SignedIn, postId: string, watching: boolean) {
  await checkReadable(db, caller, postId);
  await db
    .insertInto('post_watches')
    .values({ post_id: postId, user_ref: caller.ref, watching })
    .onConflict((conflict) =>
      conflict.columns(['post_id', 'user_ref']).doUpdateSet({
        watching,
        // Comments from before watching do not notify.
        created_at: sql`case when post_watches.watching = ${watching} then post_watches.created_at else now() end`,
      }),
    )
    .execute();
  return { watching };
}

/** Commenting watches the post, unless the author of the comment has stopped watching it. */
export async function watchAsCommenter(tx: Tx, userRef: number, postId: string): Promise<void> {
  await tx
    .insertInto('post_watches')
    .values({ post_id: postId, user_ref: userRef, watching: true })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export const showWatch = handle(getWatch, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await readWatch(db, caller, params.id),
}));

export const watch = handle(watchPost, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await choose(db, caller, params.id, true),
}));

export const unwatch = handle(unwatchPost, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await choose(db, caller, params.id, false),
}));
