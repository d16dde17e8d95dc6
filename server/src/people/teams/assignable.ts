import { assignableTeams } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Throws the 404 `team not found` unless the caller may assign new things to this team (TEAM-13). */
export async function checkAssignable(db: Database, caller: SignedIn, teamId: string): Promise<void> {
  const rows = await db
    .selectFrom('teams as t')
    .where('t.id', '=', teamId)
    .where(assignableTeams(caller))
    .execute();
  if (rows.length === 0) throw refuse('team-not-found');
}
