import { addTeamParent, removeTeamParent } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import pg from 'pg';
import { checkMayPutBelow, checkMayTakeOut, ownTeam, teamsUpTo } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';

/** The error that the closure's trigger raises for a cycle (migration 0002). */
const CIRCLE = 'VT001';
/** Maximum depth, beyond any real organisation; the closure of a chain grows with the square of its depth. */
const DEEPEST = 20;

async function checkTeams(tx: Tx, ids: readonly string[]): Promise<void> {
  const rows = await tx
    .selectFrom('teams as t')
    .where('t.id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .where(ownTeam)
    .execute();
  if (rows.length !== new Set(ids).size) throw notFound();
}

/** Returns the length of the longest chain of teams through this one. */
async function depthThrough(tx: Tx, teamId: string): Promise<number> {
  const { rows } = await sql<{ depth: number }>`
    with recursive up (id, depth) as (
      select ${teamId}::uuid, 0
      union select p.parent_id, u.depth + 1 from up u join team_parents p on p.team_id = u.id where u.depth < 100
    ), down (id, depth) as (
      select ${teamId}::uuid, 0
      union select p.team_id, d.depth + 1 from down d join team_parents p on p.parent_id = d.id where d.depth < 100
    )
    select (select max(depth) from up) + (select max(depth) from down) + 1 as depth`.execute(tx);
  return rows[0]?.depth ?? 1;
}

/** TEAM-5: a cycle is 400, also one that concurrent callers would close together. */
export const add = handle(addTeamParent, async ({ db }, { caller, params }) => {
  if (params.id === params.parent_id) throw refuse('teams-in-cycle');
  try {
    await db.transaction().execute(async (tx) => {
      // The trigger of the closure takes it too; the depth is checked in the final state.
      await takeLock(tx, 'teamTree');
      await checkTeams(tx, [params.id, params.parent_id]);
      const before = await teamsUpTo(tx, params.id);
      const inserted = await tx
        .insertInto('team_parents')
        .values({ team_id: params.id, parent_id: params.parent_id })
        .onConflict((conflict) => conflict.doNothing())
        .returning('team_id')
        .execute();
      if (inserted.length === 0) return;
      if ((await depthThrough(tx, params.id)) > DEEPEST) throw refuse('teams-too-deep', { max: DEEPEST });
      await checkMayPutBelow(tx, caller, { team: params.id, parent: params.parent_id, before });
      await recordEvent(tx, caller, {
        event: 'team.parent.added',
        target: { kind: 'team', id: params.id },
        metadata: { parent_id: params.parent_id },
      });
    });
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === CIRCLE) throw refuse('teams-in-cycle');
    throw error;
  }
  return { status: 204 };
});

export const remove = handle(removeTeamParent, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    // The trigger of the closure takes it too; the depth is checked in the final state.
    await takeLock(tx, 'teamTree');
    const before = await teamsUpTo(tx, params.id);
    const { numDeletedRows } = await tx
      .deleteFrom('team_parents')
      .where('team_id', '=', params.id)
      .where('parent_id', '=', params.parent_id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await checkMayTakeOut(tx, caller, { team: params.id, before });
    await recordEvent(tx, caller, {
      event: 'team.parent.removed',
      target: { kind: 'team', id: params.id },
      metadata: { parent_id: params.parent_id },
    });
  });
  return { status: 204 };
});
