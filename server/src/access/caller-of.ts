import { sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { chosenSights, type SignedIn } from './caller.ts';
import { loadCapabilities } from './capabilities.ts';

interface Row {
  username: string;
  fullname: string | null;
  email: string | null;
  preferences: { feed_filters?: { show_restricted?: boolean }; mature_content?: { show?: boolean } } | null;
  mature_allowed: boolean;
}

/**
 * An account as the rules would have it were it asking now, for what is written to somebody who is not here: mail,
 * mentions. Null for one that is not active, which is told nothing.
 */
export async function callerOf(db: Database, userRef: number): Promise<SignedIn | null> {
  const { rows } = await sql<Row>`
    select u.username, u.fullname, u.email, u.preferences,
      coalesce((select value = 'true' from settings where key = 'mature_allowed'), true) as mature_allowed
    from users u where u.ref = ${userRef} and u.status = 'active'`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  const { everywhere, inTeams } = await loadCapabilities(db, userRef);
  return {
    kind: 'user',
    ref: userRef,
    username: row.username,
    capabilities: everywhere,
    teamCapabilities: inTeams,
    capabilitiesStatus: 'resolved',
    authMethod: 'session',
    sessionId: null,
    token: null,
    impersonator: null,
    ...chosenSights(row.preferences, row.mature_allowed),
    account: {
      fullname: row.fullname,
      email: row.email,
      preferences: row.preferences,
      matureAllowed: row.mature_allowed,
    },
  };
}
