import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { administers } from '../../access/accounts.ts';
import type { SignedIn } from '../../access/caller.ts';
import { loadCapabilities } from '../../access/capabilities.ts';
import { checkHolds } from '../../access/door.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Returns whether an active account holds `system.admin` permanently. */
export async function hasAdministrator(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from users u where ${administers}) as found`.execute(tx);
  return rows[0]?.found === true;
}

/** Returns whether an account other than these is an administrator. */
export async function othersAdminister(tx: Tx, userRefs: readonly number[]): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select exists (select from users u
    where ${administers} and u.ref <> all(${[...userRefs]}::bigint[])) as found`.execute(tx);
  return rows[0]?.found === true;
}

/** Returns the caller with the capabilities that they hold now; throws 403 when they lack the one that is needed. */
export async function callerNow(tx: Tx, asked: SignedIn, needed: Capability): Promise<SignedIn> {
  const { everywhere, inTeams } = await loadCapabilities(tx, asked.ref);
  const caller: SignedIn = { ...asked, capabilities: everywhere, teamCapabilities: inTeams };
  checkHolds(caller, needed);
  return caller;
}

/**
 * Waits for the lock of changes to capabilities, and reads the caller's again, so that a caller who was demoted meanwhile
 * changes nothing (ROLE-4).
 */
export async function callerUnderLock(tx: Tx, asked: SignedIn, needed: Capability): Promise<SignedIn> {
  await takeLock(tx, 'administrators');
  return callerNow(tx, asked, needed);
}

/**
 * ROLE-11: makes a change to capabilities, one caller at a time, and rolls it back with a 400 when no `system.admin`
 * would remain.
 */
export async function keepingAnAdministrator<T>(
  db: Database,
  asked: SignedIn,
  change: (tx: Tx, caller: SignedIn) => Promise<T>,
  needed: Capability = 'users.write',
): Promise<T> {
  return db.transaction().execute(async (tx) => {
    const result = await change(tx, await callerUnderLock(tx, asked, needed));
    if (!(await hasAdministrator(tx))) throw refuse('last-administrator');
    return result;
  });
}
