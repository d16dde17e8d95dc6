import { sql } from 'kysely';
import { holds, type SignedIn } from '../access/caller.ts';
import { loadCapabilities } from '../access/capabilities.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';

const ADMINISTRATORS_LOCK = 7_431_004;

/** Whether an active account holds `system.admin` for good: by its role or a grant without end, and not revoked. */
async function hasAdministrator(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive administering (role_id) as (
      select role_id from role_capabilities where capability = 'system.admin'
      union
      select r.id from roles r join administering a on r.parent_id = a.role_id
    )
    select exists (select from users u where u.status = 'active'
      and (u.role_id in (select role_id from administering)
        or exists (select from user_capability_grants g where g.user_ref = u.ref
          and g.capability = 'system.admin' and g.team_id is null and g.expires_at is null))
      and not exists (select from user_capability_revokes r where r.user_ref = u.ref
        and r.capability = 'system.admin' and r.team_id is null
        and (r.expires_at is null or r.expires_at > now()))) as found`.execute(tx);
  return rows[0]?.found === true;
}

/**
 * Makes a change to what accounts may do, one caller at a time, and undoes it with a 400 when it would leave no
 * `system.admin` (choices, roles). The caller's own capabilities are read anew under the lock: whoever was demoted
 * while waiting for it changes nothing any more (spec part 5 rule 7).
 */
export async function keepingAnAdministrator<T>(
  db: Database,
  asked: SignedIn,
  change: (tx: Tx, caller: SignedIn) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${ADMINISTRATORS_LOCK})`.execute(tx);
    const { everywhere, inTeams } = await loadCapabilities(tx, asked.ref);
    const caller: SignedIn = { ...asked, capabilities: everywhere, teamCapabilities: inTeams };
    if (!holds(caller, 'users.write')) throw refuse(403, 'missing capability users.write');
    const result = await change(tx, caller);
    if (!(await hasAdministrator(tx)))
      throw refuse(400, 'that would leave the library without an administrator');
    return result;
  });
}
