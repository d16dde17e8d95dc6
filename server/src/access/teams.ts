import type { TeamRole } from '@vitrine/contract/teams';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';
import { intact, liveAsset, shownAssets } from './assets.ts';
import { type Caller, holds, leadCapabilities, type SignedIn, teamsLed, teamsWith } from './caller.ts';
import { live, unexpired } from './live.ts';
import { readablePosts } from './posts.ts';

/** `teams.read` sees all teams; these predicates are about changing them. Alias `t`. */
type Predicate = RawBuilder<boolean>;

export const liveTeam: Predicate = live('t');

/** Teams of this library. Teams of peers are changed only there, and have no members here (FED-64). */
export const ownTeam: Predicate = sql`(${liveTeam} and t.origin_server_id is null)`;

/** Teams that the caller may know of: those of peers only through something of theirs that the caller is shown (FED-64). */
export function shownTeams(caller: Caller): Predicate {
  return sql`(${liveTeam} and (t.origin_server_id is null
    or exists (select from posts p where p.team_id = t.id and ${readablePosts(caller)})
    or exists (select from assets a where a.team_id = t.id and ${shownAssets(caller)})))`;
}

/**
 * Teams the caller may change: all with `teams.write`, otherwise those in which they hold it and all below these, and those
 * that they lead (TEAM-16).
 */
export function writableTeams(caller: Caller): Predicate {
  if (holds(caller, 'teams.write')) return ownTeam;
  const teams = [...teamsWith(caller, 'teams.write'), ...teamsLed(caller)];
  return teams.length === 0 ? sql`false` : sql`(${ownTeam} and t.id = any(${teams}::uuid[]))`;
}

/** Teams `t` whose files of sensitivity `team` the caller reads as a member or by a capability (ASSET-4). */
function readTeams(caller: SignedIn): Predicate {
  if (holds(caller, 'assets.admin') || holds(caller, 'content.read.all')) return sql`true`;
  const teams = [...teamsWith(caller, 'assets.admin'), ...teamsWith(caller, 'content.read.all')];
  return sql`(t.id = any(${teams}::uuid[]) or exists (
    select from team_members tm where tm.team_id = t.id and tm.user_ref = ${caller.ref}))`;
}

/** The team with this id and all above it. */
const upTo = (teamId: string) => sql`(select ancestor_id from team_closure where descendant_id = ${teamId})`;

/**
 * Throws 403 unless the caller reads the files of the team and of all above it: holders of `teams.write` in the team do
 * (ASSET-4), so giving it to oneself, or putting a team below this one, would open them.
 */
export async function checkReadsUpTo(db: Database, caller: SignedIn, teamId: string): Promise<void> {
  const { rows } = await sql`select from teams t
    where t.id in ${upTo(teamId)} and not ${readTeams(caller)} limit 1`.execute(db);
  if (rows.length > 0) throw refuse('team-files-not-readable');
}

/** Throws 403 when the caller does not hold one of these codes, everywhere or in this team. */
function checkHoldsIn(caller: SignedIn, teamId: string, codes: readonly string[]): void {
  if (holds(caller, 'system.admin')) return;
  const missing = codes.find(
    (code) => !caller.capabilities.has(code) && caller.teamCapabilities.get(code)?.includes(teamId) !== true,
  );
  if (missing !== undefined) throw refuse('team-rights-not-held', { capability: missing });
}

/** Returns the team and all above it, before a change that the two rules below check. */
export async function teamsUpTo(db: Database, teamId: string): Promise<string[]> {
  const { rows } = await sql<{ ancestor_id: string }>`${upTo(teamId)}`.execute(db);
  return rows.map(({ ancestor_id }) => ancestor_id);
}

/**
 * Throws 403 unless the caller may put a team below another (TEAM-15): they read the files that it opens to the team's
 * administrators, and hold what grants for the teams above would give in the team. `before`: the teams that were above it.
 */
export async function checkMayPutBelow(
  db: Database,
  caller: SignedIn,
  { team, parent, before }: { team: string; parent: string; before: readonly string[] },
): Promise<void> {
  await checkReadsUpTo(db, caller, parent);
  const { rows } = await sql<{ capability: string }>`select distinct capability from user_capability_grants g
    where team_id in ${upTo(parent)} and team_id <> all(${[...before]}::uuid[]) and ${unexpired('g')} order by capability`.execute(
    db,
  );
  checkHoldsIn(
    caller,
    team,
    rows.map(({ capability }) => capability),
  );
}

/**
 * TEAM-15: throws 403 unless the caller holds what a team regains that was taken out of another: revokes for the teams that are no
 * longer above it ended (ROLE-7). `before`: the teams that were above it.
 */
export async function checkMayTakeOut(
  db: Database,
  caller: SignedIn,
  { team, before }: { team: string; before: readonly string[] },
): Promise<void> {
  const { rows } = await sql<{ capability: string }>`select distinct capability from user_capability_revokes r
    where team_id = any(${[...before]}::uuid[]) and team_id not in ${upTo(team)} and ${unexpired('r')} order by capability`.execute(
    db,
  );
  checkHoldsIn(
    caller,
    team,
    rows.map(({ capability }) => capability),
  );
}

/** Throws 404 for a team that does not exist, and 403 for one whose members the caller may not change. */
export async function checkMayFill(
  db: Database,
  caller: SignedIn,
  teamIds: readonly string[],
): Promise<void> {
  const wanted = [...new Set(teamIds)];
  const { rows } = await sql<{ writable: boolean }>`select ${writableTeams(caller)} as writable from teams t
    where t.id = any(${wanted}::uuid[]) and ${liveTeam}`.execute(db);
  if (rows.length < wanted.length) throw refuse('team-not-found');
  if (rows.some(({ writable }) => !writable))
    throw refuse('capability-missing', { capability: 'teams.write' });
}

/** TEAM-9: throws 403 on the caller's own account, also for administrators: somebody else adds them to a team. */
export function checkMayAddMember(caller: SignedIn, userRef: number): void {
  if (userRef === caller.ref) throw refuse('cannot-add-yourself-to-team');
}

/** TEAM-16: throws 403 unless the caller holds what the role would give in the team. */
export function checkMayGiveRole(caller: SignedIn, teamId: string, role: TeamRole): void {
  if (role === 'lead') checkHoldsIn(caller, teamId, leadCapabilities);
}

/** Members `tm` who decide for their team: about what others ask it to review, and as approvers. */
export const decidingMember: Predicate = sql`tm.role in ('lead', 'member')`;

/** TEAM-7: assets `a` that may be the picture of a team `t`: public, owned by the team, not deleted. */
export const choosableHero: Predicate = sql`(a.team_id = t.id and ${liveAsset} and a.sensitivity = 'public'
  and not a.mature)`;

/**
 * TEAM-8: the picture of a team, evaluated on every read: still eligible and rendered. Refers to `assets a` and `files
 * f` for a team `t`.
 */
export const admissibleHero: Predicate = sql`(a.id = t.hero_asset_id and ${choosableHero}
  and a.status = 'active' and ${intact} and f.renditions ? 'col')`;
