import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';

/** What an account may do, as far as it does not depend on whose thing it is. */
export interface Capabilities {
  /** Codes that hold everywhere. */
  everywhere: ReadonlySet<string>;
  /** Codes that hold in some teams only, each with those teams and all below them. */
  inTeams: ReadonlyMap<string, readonly string[]>;
}

interface Kept {
  epoch: number;
  /** Milliseconds since 1970 at which a grant or revoke in the set runs out; Infinity when none does. */
  until: number;
  capabilities: Capabilities;
}

export interface CapabilityResolver {
  /**
   * The account's capabilities: role chain, plus grants, minus revokes, without what expired (choices, roles).
   * Kept while the epoch read with the session stands, so it is always fresh.
   */
  resolve(db: Database, userRef: number, epoch: number): Promise<Capabilities>;
}

interface ResolvedRow {
  capabilities: string[] | null;
  in_teams: Record<string, string[]> | null;
  until: string | null;
}

/**
 * A team-scoped grant reaches its team and all below it; a team-scoped revoke takes from such grants there. A
 * revoke without a team takes the code away altogether.
 */
async function load(db: Database, userRef: number): Promise<ResolvedRow> {
  const { rows } = await sql<ResolvedRow>`
    with recursive chain (role_id) as (
      select role_id from users where ref = ${userRef}
      union
      select r.parent_id from roles r join chain c on r.id = c.role_id where r.parent_id is not null
    ), granted as (
      select capability, team_id, expires_at from user_capability_grants
      where user_ref = ${userRef} and (expires_at is null or expires_at > now())
        -- The markers of granted requests confer nothing (spec 2.8).
        and capability not in ('content.access.request', 'content.restore.request')
    ), revoked as (
      select capability, team_id, expires_at from user_capability_revokes
      where user_ref = ${userRef} and (expires_at is null or expires_at > now())
    ), held as (
      select rc.capability from role_capabilities rc join chain c on c.role_id = rc.role_id
      union select capability from granted where team_id is null
      except select capability from revoked where team_id is null
    ), held_in_teams as (
      select g.capability, tc.descendant_id
        from granted g join team_closure tc on tc.ancestor_id = g.team_id
        where not exists (select from revoked r where r.capability = g.capability and r.team_id is null)
      except select r.capability, tc.descendant_id
        from revoked r join team_closure tc on tc.ancestor_id = r.team_id
    )
    select (select array_agg(capability order by capability) from held) as capabilities,
      (select json_object_agg(capability, teams) from (
        select capability, json_agg(descendant_id order by descendant_id) as teams
        from held_in_teams group by capability) x) as in_teams,
      (select min(expires_at) from (select expires_at from granted union all select expires_at from revoked) x) as until
  `.execute(db);
  return rows[0] ?? { capabilities: null, in_teams: null, until: null };
}

/** The account's capabilities as they are now, kept by nobody: for rules about other accounts than the caller's. */
export async function loadCapabilities(db: Database, userRef: number): Promise<Capabilities> {
  return capabilitiesOf(await load(db, userRef));
}

/** How many accounts are told of what any of them may see to. */
const MOST_HOLDERS = 200;

/**
 * Active accounts that hold a capability everywhere, by itself or as `system.admin`: the same sum as above, asked
 * from its other end.
 */
export async function holdersOf(db: Database, capability: Capability): Promise<number[]> {
  const codes = [capability, 'system.admin'];
  const { rows } = await sql<{ ref: number }>`
    with recursive carrying (role_id, capability) as (
      select role_id, capability from role_capabilities where capability = any(${codes})
      union
      select r.id, c.capability from roles r join carrying c on r.parent_id = c.role_id
    ), held as (
      (select u.ref, c.capability from users u join carrying c on c.role_id = u.role_id
       union select user_ref, capability from user_capability_grants
         where capability = any(${codes}) and team_id is null and (expires_at is null or expires_at > now()))
      except select user_ref, capability from user_capability_revokes
        where team_id is null and (expires_at is null or expires_at > now())
    )
    select distinct u.ref from held join users u on u.ref = held.ref and u.status = 'active'
    order by u.ref limit ${MOST_HOLDERS}`.execute(db);
  return rows.map(({ ref }) => ref);
}

function capabilitiesOf(row: ResolvedRow): Capabilities {
  return {
    everywhere: new Set(row.capabilities ?? []),
    inTeams: new Map(Object.entries(row.in_teams ?? {})),
  };
}

/** A resolver that keeps at most `most` accounts' sets. */
export function openCapabilities(most = 10_000): CapabilityResolver {
  const kept = new Map<number, Kept>();
  return {
    async resolve(db, userRef, epoch) {
      const known = kept.get(userRef);
      if (known !== undefined && known.epoch === epoch && Date.now() < known.until) return known.capabilities;
      const row = await load(db, userRef);
      const capabilities = capabilitiesOf(row);
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
