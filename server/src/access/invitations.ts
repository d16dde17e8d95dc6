import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { mayGive } from './accounts.ts';
import { holds, type SignedIn } from './caller.ts';
import { callerOf } from './caller-of.ts';
import { activeAccount } from './live.ts';

/** INVITE-3: invitations `i` that are neither used up nor revoked nor expired. */
export const openInvitations: RawBuilder<boolean> = sql`(i.revoked_at is null and i.expires_at > now()
  and i.uses < i.max_uses and exists (select from users g where g.ref = i.given_by_user_ref and ${activeAccount('g')}))`;

/**
 * INVITE-6: returns who gives what an invitation gives, with their current rights; null if they may no longer invite or
 * give these capabilities of its role.
 */
export async function giverOf(
  db: Database,
  userRef: number | null,
  roleCapabilities: readonly string[],
): Promise<SignedIn | null> {
  const giver = userRef === null ? null : await callerOf(db, userRef);
  return giver !== null && holds(giver, 'users.write') && mayGive(giver, roleCapabilities) ? giver : null;
}
