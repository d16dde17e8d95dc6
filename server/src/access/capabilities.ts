import { sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';

interface Kept {
  epoch: number;
  /** Milliseconds since 1970 at which a grant or revoke in the set runs out; Infinity when none does. */
  until: number;
  capabilities: ReadonlySet<string>;
}

export interface CapabilityResolver {
  /**
   * The account's global capabilities: role chain, plus grants, minus revokes, without what expired
   * (choices, roles). Kept while the epoch read with the session stands, so it is always fresh.
   */
  resolve(db: Database, userRef: number, epoch: number): Promise<ReadonlySet<string>>;
}

interface ResolvedRow {
  capabilities: string[] | null;
  until: string | null;
}

async function load(db: Database, userRef: number): Promise<ResolvedRow> {
  const { rows } = await sql<ResolvedRow>`
    with recursive chain (role_id) as (
      select role_id from users where ref = ${userRef}
      union
      select r.parent_id from roles r join chain c on r.id = c.role_id where r.parent_id is not null
    ), granted as (
      select capability, expires_at from user_capability_grants
      where user_ref = ${userRef} and team_id is null and (expires_at is null or expires_at > now())
    ), revoked as (
      select capability, expires_at from user_capability_revokes
      where user_ref = ${userRef} and team_id is null and (expires_at is null or expires_at > now())
    ), held as (
      select rc.capability from role_capabilities rc join chain c on c.role_id = rc.role_id
      union select capability from granted
      except select capability from revoked
    )
    select (select array_agg(capability order by capability) from held) as capabilities,
      (select min(expires_at) from (select expires_at from granted union all select expires_at from revoked) x) as until
  `.execute(db);
  return rows[0] ?? { capabilities: null, until: null };
}

/** A resolver that keeps at most `most` accounts' sets. */
export function openCapabilities(most = 10_000): CapabilityResolver {
  const kept = new Map<number, Kept>();
  return {
    async resolve(db, userRef, epoch) {
      const known = kept.get(userRef);
      if (known !== undefined && known.epoch === epoch && Date.now() < known.until) return known.capabilities;
      const row = await load(db, userRef);
      const capabilities = new Set(row.capabilities ?? []);
      kept.delete(userRef);
      kept.set(userRef, {
        epoch,
        until: row.until === null ? Infinity : Date.parse(row.until),
        capabilities,
      });
      const oldest = kept.keys().next();
      if (kept.size > most && !oldest.done) kept.delete(oldest.value);
      return capabilities;
    },
  };
}
