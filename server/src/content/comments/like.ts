import { likeComment, unlikeComment } from '@vitrine/contract/comments';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { readComment } from './write.ts';

/** Likes or unlikes a comment the caller reads, and returns the resulting state. */
async function change({ db }: Deps, caller: SignedIn, id: string, write: (tx: Tx) => Promise<unknown>) {
  const body = await db.transaction().execute(async (tx) => {
    await readComment(tx, caller, id);
    await write(tx);
    const { liked, like_count } = await readComment(tx, caller, id);
    return { liked, like_count };
  });
  return { status: 200 as const, body };
}

export const like = handle(likeComment, (deps, { caller, params }) =>
  change(deps, caller, params.id, (tx) =>
    tx
      .insertInto('comment_likes')
      .values({ comment_id: params.id, user_ref: caller.ref })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  ),
);

export const unlike = handle(unlikeComment, (deps, { caller, params }) =>
  change(deps, caller, params.id, (tx) =>
    tx
      .deleteFrom('comment_likes')
      .where('comment_id', '=', params.id)
      .where('user_ref', '=', caller.ref)
      .execute(),
  ),
);
