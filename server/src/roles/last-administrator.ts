import { sql } from 'kysely';
import { administers, checkMayWriteAccounts } from '../access/accounts.ts';
import type { SignedIn } from '../access/caller.ts';
import { loadCapabilities } from '../access/capabilities.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';

const ADMINISTRATORS_LOCK = 7_431_004;

/** Whether an active account holds `system.admin` for good. */
async function hasAdministrator(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from users u where ${administers}) as found`.execute(tx);
  return rows[0]?.found === true;
}

/**
 * Makes a change to what accounts may do, one caller at a time, and undoes it with a 400 when it would leave no
 * `system.admin` (ROLE-11). The caller's own capabilities are read anew under the lock: whoever was demoted
 * while waiting for it changes nothing any more (ROLE-4).
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
    checkMayWriteAccounts(caller);
    const result = await change(tx, caller);
    if (!(await hasAdministrator(tx)))
      throw refuse(400, 'that would leave the library without an administrator');
    return result;
  });
}
