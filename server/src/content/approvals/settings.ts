import { Approvals, getApprovals, updateApprovals } from '@vitrine/contract/approvals';
import { gates } from '@vitrine/contract/limits';
import { ownTeam } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Database } from '../../platform/database/pool.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';

const isApprovals = compileLater(Approvals);
const none: Approvals = {
  publish: { required: 0 },
  public_audience: { required: 0 },
  links: { required: 0 },
};

/** Returns the approvals that acts need; none unless configured. */
async function readApprovals(db: Database): Promise<Approvals> {
  const stored = await readSetting(db, 'approvals');
  return isApprovals().Check(stored) ? stored : none;
}

/** `GET /admin/system/approvals`. */
export const showApprovals = handle(getApprovals, async ({ db }) => ({
  status: 200,
  body: await readApprovals(db),
}));

/** `PATCH /admin/system/approvals`. */
export const changeApprovals = handle(updateApprovals, async ({ db }, { caller, body }) => {
  const approvals = await db.transaction().execute(async (tx) => {
    // One change at a time, so that two of different gates are both kept.
    await tx
      .insertInto('settings')
      .values({ key: 'approvals', value: JSON.stringify(none) })
      .onConflict((row) => row.doNothing())
      .execute();
    await tx.selectFrom('settings').select('key').where('key', '=', 'approvals').forUpdate().execute();
    const changed = { ...(await readApprovals(tx)) };
    for (const gate of gates) {
      const given = body[gate];
      if (given == null) continue;
      if (given.team_id !== undefined) {
        const team = await tx
          .selectFrom('teams as t')
          .select('t.id')
          .where('t.id', '=', given.team_id)
          .where(ownTeam)
          .executeTakeFirst();
        if (team === undefined) throw refuse('team-not-found');
      }
      changed[gate] = given;
    }
    await writeSetting(tx, 'approvals', changed);
    await recordEvent(tx, caller, { event: 'system.approvals.changed', metadata: changed });
    return changed;
  });
  return { status: 200, body: approvals };
});
