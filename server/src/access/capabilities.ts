import type { Capability } from '@vitrine/contract/capabilities';
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database } from '../platform/database/pool.ts';
import { capabilityShownFor, leadCapabilities, TEAM_LEAD } from './caller.ts';
import { activeAccount, unexpired } from './live.ts';

/** An account's capabilities. */
export interface Capabilities {
  /** Codes that hold everywhere. */
  everywhere: ReadonlySet<string>;
  /** Codes that hold in some teams only, with those teams and all below them. */
  inTeams: ReadonlyMap<string, readonly string[]>;
}

interface Kept {
  epoch: number;
  /** Milliseconds since 1970 when the next grant or revoke in the set expires; Infinity when none does. */
  until: number;
  capabilities: Capabilities;
}

export interface CapabilityResolver {
  /**
   * Returns the account's capabilities: role chain, plus grants, minus revokes, without expired ones (ROLE-3). Cached
   * while the epoch that was read with the session is unchanged, so the result is always current.
   */
  resolve(db: Database, userRef: number, epoch: number): Promise<Capabilities>;
}

interface ResolvedRow {
  user_ref: number;
  capabilities: string[] | null;
  in_teams: Record<string, string[]> | null;
  until: string | null;
}

/** What a lead holds in the team, and the capability whose revoke takes it away (TEAM-16). */
const heldByLeads = sql.join(
  [...leadCapabilities, TEAM_LEAD].map(
    (code) => sql`(${sql.lit(code)}, ${sql.lit(capabilityShownFor(code))})`,
  ),
);

/** Rows whose capability counts: the markers of granted requests confer nothing (ROLE-15). */
export function confers(capability: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`${capability} not in ('content.access.request', 'content.restore.request')`;
}

/**
 * One row per account. A team-scoped grant covers its team and all below it; a team-scoped revoke removes from such
 * grants there. A revoke without a team removes the code entirely.
 */
async function load(db: Database, userRefs: readonly number[]): Promise<ResolvedRow[]> {
  const refs = sql`any(${[...userRefs]}::bigint[])`;
  const { rows } = await sql<ResolvedRow>`
    with recursive chain (user_ref, role_id) as (
      select ref, role_id from users where ref = ${refs}
      union
      select c.user_ref, r.parent_id from roles r join chain c on r.id = c.role_id where r.parent_id is not null
    ), granted as (
      select user_ref, capability, team_id, expires_at from user_capability_grants
      where user_ref = ${refs} and (expires_at is null or expires_at > now())
        and ${confers(sql`capability`)}
    ), revoked as (
      select user_ref, capability, team_id, expires_at from user_capability_revokes
      where user_ref = ${refs} and (expires_at is null or expires_at > now())
    ), held as (
      select c.user_ref, rc.capability from role_capabilities rc join chain c on c.role_id = rc.role_id
      union select user_ref, capability from granted where team_id is null
      except select user_ref, capability from revoked where team_id is null
    ), held_in_teams as (
      select g.user_ref, g.capability, tc.descendant_id
        from granted g join team_closure tc on tc.ancestor_id = g.team_id
        where not exists (select from revoked r
          where r.user_ref = g.user_ref and r.capability = g.capability and r.team_id is null)
      -- TEAM-16: a lead holds these in the team itself.
      union select tm.user_ref, l.capability, tm.team_id
        from team_members tm cross join (values ${heldByLeads}) l (capability, revocable)
        where tm.user_ref = ${refs} and tm.role = 'lead' and not exists (select from revoked r
          where r.user_ref = tm.user_ref and r.capability = l.revocable and (r.team_id is null
            or r.team_id in (select ancestor_id from team_closure where descendant_id = tm.team_id)))
      except select r.user_ref, r.capability, tc.descendant_id
        from revoked r join team_closure tc on tc.ancestor_id = r.team_id
    )
    select u.ref as user_ref,
      (select array_agg(capability order by capability) from held h where h.user_ref = u.ref) as capabilities,
      (select json_object_agg(capability, teams) from (
        select capability, json_agg(descendant_id order by descendant_id) as teams
        from held_in_teams h where h.user_ref = u.ref group by capability) x) as in_teams,
      (select min(expires_at) from (select user_ref, expires_at from granted
        union all select user_ref, expires_at from revoked) x where x.user_ref = u.ref) as until
    from users u where u.ref = ${refs}`.execute(db);
  return rows;
}

const nothing = { capabilities: null, in_teams: null, until: null };

/** Returns the account's current capabilities, uncached: for rules about accounts other than the caller. */
export async function loadCapabilities(db: Database, userRef: number): Promise<Capabilities> {
  const [row] = await load(db, [userRef]);
  return capabilitiesOf(row ?? nothing);
}

/** Returns the current capabilities of several accounts in one statement, uncached. */
export async function loadCapabilitiesOf(
  db: Database,
  userRefs: readonly number[],
): Promise<ReadonlyMap<number, Capabilities>> {
  const rows = await load(db, userRefs);
  return new Map(rows.map((row) => [row.user_ref, capabilitiesOf(row)]));
}

/** The maximum number of accounts notified about a pending decision. */
const MOST_HOLDERS = 200;

/**
 * Returns active accounts that hold a capability everywhere, directly or through `system.admin`: the computation above
 * in reverse.
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
    select distinct u.ref from held join users u on u.ref = held.ref and ${activeAccount('u')}
    order by u.ref limit ${MOST_HOLDERS}`.execute(db);
  return rows.map(({ ref }) => ref);
}

/**
 * Whether an active account holds a capability now: everywhere, through `system.admin`, or in this team. The computation
 * of `load` for one code, for statements about what accounts other than the caller once decided.
 */
export function accountHolds(
  userRef: RawBuilder<unknown>,
  capability: Capability,
  teamId: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return sql`exists (select from users h cross join unnest(${[capability, 'system.admin']}::text[]) as code (name)
    where h.ref = ${userRef} and ${activeAccount('h')}
      and not exists (select from user_capability_revokes r
        where r.user_ref = h.ref and r.capability = code.name and r.team_id is null and ${unexpired('r')})
      and (h.role_id in (with recursive carrying (role_id) as (
            select role_id from role_capabilities where capability = code.name
            union select r.id from roles r join carrying y on r.parent_id = y.role_id) select role_id from carrying)
        or (code.name = ${capability} and code.name in (${sql.join(leadCapabilities.map((code) => sql.lit(code)))})
          and exists (select from team_members tm
            where tm.user_ref = h.ref and tm.team_id = ${teamId} and tm.role = 'lead')
          and not exists (select from user_capability_revokes r where r.user_ref = h.ref
            and r.capability = code.name and ${unexpired('r')}
            and r.team_id in (select ancestor_id from team_closure where descendant_id = ${teamId})))
        or exists (select from user_capability_grants g where g.user_ref = h.ref and g.capability = code.name
          and ${unexpired('g')} and (g.team_id is null or (code.name = ${capability}
            and g.team_id in (select ancestor_id from team_closure where descendant_id = ${teamId})
            and not exists (select from user_capability_revokes r where r.user_ref = h.ref
              and r.capability = code.name and ${unexpired('r')}
              and r.team_id in (select ancestor_id from team_closure where descendant_id = ${teamId})))))))`;
}

function capabilitiesOf(row: Omit<ResolvedRow, 'user_ref'>): Capabilities {
  return {
    everywhere: new Set(row.capabilities ?? []),
    inTeams: new Map(Object.entries(row.in_teams ?? {})),
  };
}

/** Creates a resolver that caches at most `most` accounts. */
export function openCapabilities(most = 10_000): CapabilityResolver {
  const kept = new LRUCache<number, Kept>({ max: most });
  return {
    async resolve(db, userRef, epoch) {
      const known = kept.get(userRef);
      if (known !== undefined && known.epoch === epoch && Date.now() < known.until) return known.capabilities;
      const row = (await load(db, [userRef]))[0] ?? nothing;
      const capabilities = capabilitiesOf(row);
      kept.set(userRef, {
        epoch,
        until: row.until === null ? Infinity : Date.parse(row.until),
        capabilities,
      });
      return capabilities;
    },
  };
}
