import { followUser, unfollowUser } from '@vitrine/contract/users';
import { handle } from '../platform/http/bind.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';

/** Following twice is following once. */
export const follow = handle(followUser, async ({ db }, { caller, params }) => {
  if (params.ref === caller.ref) throw refuse(400, 'nobody follows themselves');
  const known = await db.selectFrom('users').select('ref').where('ref', '=', params.ref).executeTakeFirst();
  if (known === undefined) throw notFound();
  await db
    .insertInto('user_follows')
    .values({ follower_user_ref: caller.ref, followed_user_ref: params.ref })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { status: 204 };
});

export const unfollow = handle(unfollowUser, async ({ db }, { caller, params }) => {
  const known = await db.selectFrom('users').select('ref').where('ref', '=', params.ref).executeTakeFirst();
  if (known === undefined) throw notFound();
  await db
    .deleteFrom('user_follows')
    .where('follower_user_ref', '=', caller.ref)
    .where('followed_user_ref', '=', params.ref)
    .execute();
  return { status: 204 };
});
