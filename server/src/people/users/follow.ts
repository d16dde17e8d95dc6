import { followUser, getUserFollow, unfollowUser } from '@vitrine/contract/users';
import { checkUser } from '../../access/known-accounts.ts';
import { handle } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { announce } from '../notifications/announce.ts';

/** Followed accounts are visible to the follower only. */
export const showFollow = handle(getUserFollow, async ({ db }, { caller, params }) => {
  await checkUser(db, params.ref);
  const row = await db
    .selectFrom('user_follows')
    .select('followed_user_ref')
    .where('follower_user_ref', '=', caller.ref)
    .where('followed_user_ref', '=', params.ref)
    .executeTakeFirst();
  return { status: 200, body: { following: row !== undefined } };
});

/** Idempotent. */
export const follow = handle(followUser, async ({ db }, { caller, params }) => {
  if (params.ref === caller.ref) throw refuse('cannot-follow-yourself');
  await checkUser(db, params.ref);
  await db.transaction().execute(async (tx) => {
    const { numInsertedOrUpdatedRows: followed } = await tx
      .insertInto('user_follows')
      .values({ follower_user_ref: caller.ref, followed_user_ref: params.ref })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (followed === 1n) await announce(tx, { what: 'follow', actor: caller.ref, followed: params.ref });
  });
  return { status: 204 };
});

export const unfollow = handle(unfollowUser, async ({ db }, { caller, params }) => {
  await checkUser(db, params.ref);
  await db
    .deleteFrom('user_follows')
    .where('follower_user_ref', '=', caller.ref)
    .where('followed_user_ref', '=', params.ref)
    .execute();
  return { status: 204 };
});
