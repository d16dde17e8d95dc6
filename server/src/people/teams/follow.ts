import { followTeam, unfollowTeam } from '@vitrine/contract/teams';
import type { Caller } from '../../access/caller.ts';
import { shownTeams } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';

async function checkTeam(db: Database, caller: Caller, id: string): Promise<void> {
  const rows = await db.selectFrom('teams as t').where('t.id', '=', id).where(shownTeams(caller)).execute();
  if (rows.length === 0) throw notFound();
}

/** Idempotent. */
export const follow = handle(followTeam, async ({ db }, { caller, params }) => {
  await checkTeam(db, caller, params.id);
  await db
    .insertInto('team_follows')
    .values({ team_id: params.id, user_ref: caller.ref })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { status: 204 };
});

export const unfollow = handle(unfollowTeam, async ({ db }, { caller, params }) => {
  await checkTeam(db, caller, params.id);
  await db
    .deleteFrom('team_follows')
    .where('team_id', '=', params.id)
    .where('user_ref', '=', caller.ref)
    .execute();
  return { status: 204 };
});
