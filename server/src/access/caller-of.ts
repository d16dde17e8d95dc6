import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { type AccountRow, type SignedIn, viewingPreferences } from './caller.ts';
import { type Capabilities, loadCapabilitiesOf } from './capabilities.ts';
import { activeAccount } from './live.ts';

interface AccessRow extends AccountRow {
  preferences: NonNullable<AccountRow['preferences']>;
  ref: number;
  username: string;
}

/**
 * Returns these accounts as callers with their current rights, for mail and mentions. At most `most`, in two
 * statements. Accounts that are not active are left out.
 */
export async function callersOf(db: Database, which: RawBuilder<boolean>, most: number): Promise<SignedIn[]> {
  const { rows } = await sql<AccessRow>`
    select u.ref, u.username, u.fullname, u.email, u.preferences,
      coalesce((select value = 'true' from settings where key = 'mature_allowed'), true) as mature_allowed
    from users u where ${which} and ${activeAccount('u')} order by u.ref limit ${most}`.execute(db);
  if (rows.length === 0) return [];
  const held = await loadCapabilitiesOf(
    db,
    rows.map(({ ref }) => ref),
  );
  return rows.map((row) => callerFrom(row, held.get(row.ref)));
}

/** Returns one account as a caller; null if it is not active. */
export async function callerOf(db: Database, userRef: number): Promise<SignedIn | null> {
  return (await callersOf(db, sql`u.ref = ${userRef}`, 1))[0] ?? null;
}

function callerFrom(row: AccessRow, held: Capabilities | undefined): SignedIn {
  return {
    kind: 'user',
    ref: row.ref,
    username: row.username,
    capabilities: held?.everywhere ?? new Set(),
    teamCapabilities: held?.inTeams ?? new Map(),
    capabilitiesStatus: 'resolved',
    authMethod: 'session',
    sessionId: null,
    token: null,
    impersonator: null,
    ...viewingPreferences(row),
  };
}
