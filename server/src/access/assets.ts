import type { Capability } from '@vitrine/contract/capabilities';
import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';
import { live } from './live.ts';

/** Who is given which asset, its columns and its bytes. Predicates speak of a row of `assets` under the alias `a`. */
export type Predicate = RawBuilder<boolean>;

export const liveAsset: Predicate = live('a');

/** spec 2.5 `anonymously_visible`: what the read rule gives a stranger. It is about a stranger, whoever asks. */
export const anonymouslyVisible: Predicate = sql`(a.deleted_at is null and a.status = 'active'
  and a.sensitivity = 'public' and a.processing_status = 'ready')`;

/** Administrators of assets are given every row that is not deleted. */
function administers(caller: Caller): boolean {
  return holds(caller, 'assets.admin');
}

/** ` or` the asset is of a team the caller holds the capability in; nothing for most callers, and no cost. */
function orInTeamsWith(caller: Caller, ...capabilities: Capability[]): RawBuilder<unknown> {
  const teams = capabilities.flatMap((capability) => teamsWith(caller, capability));
  return teams.length === 0 ? sql`` : sql` or a.team_id = any(${teams}::uuid[])`;
}

/** The read rule: which rows the caller is given at all (choices, assets). Failing it is a 404. */
export function readableAssets(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return anonymouslyVisible;
  if (administers(caller)) return sql`(a.deleted_at is null)`;
  return sql`(a.deleted_at is null and (a.owner_user_ref = ${caller.ref}
    or (a.status = 'active' and a.processing_status in ('ready', 'pending'))${orInTeamsWith(caller, 'assets.admin')}))`;
}

/** The field rule: whose columns are shown; failing it leaves the placeholder (choices, assets). */
function disclosedFields(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`(a.sensitivity = 'public')`;
  if (administers(caller) || holds(caller, 'content.read.all')) return sql`true`;
  return sql`(a.sensitivity = 'public' or a.owner_user_ref = ${caller.ref}
    or (a.sensitivity = 'team' and exists (
      select from team_members tm where tm.team_id = a.team_id and tm.user_ref = ${caller.ref}))
    ${orBelowTeamsWritten(caller)}${orInTeamsWith(caller, 'assets.admin', 'content.read.all')})`;
}

/** ` or` a team below the asset's is administered by the caller: they hold `teams.write` there (choices, assets). */
function orBelowTeamsWritten(caller: Caller): RawBuilder<unknown> {
  const teams = teamsWith(caller, 'teams.write');
  return teams.length === 0
    ? sql``
    : sql` or (a.sensitivity = 'team' and exists (select from team_closure tc
        where tc.ancestor_id = a.team_id and tc.descendant_id = any(${teams}::uuid[])))`;
}

/** Given the row and shown its columns. */
export function shownAssets(caller: Caller): Predicate {
  // `is true`: an asset without an owner makes comparisons NULL, which is neither yes nor no.
  return sql`((${readableAssets(caller)} and ${disclosedFields(caller)}) is true)`;
}

/** With `include_deleted`: what is in the trash is shown to system.admin as it was. */
export function shownAssetsAndTrash(caller: Caller): Predicate {
  return holds(caller, 'system.admin') ? sql`true` : shownAssets(caller);
}

/** The content rule: whose bytes are served. A rating is not a clearance, and adds to the field rule (spec 2.5). */
export function servedAssets(caller: Caller): Predicate {
  if (caller.kind === 'user' && (administers(caller) || caller.seesMature)) return shownAssets(caller);
  if (caller.kind === 'anonymous') return sql`(${shownAssets(caller)} and not a.mature)`;
  return sql`(${shownAssets(caller)}
    and (not a.mature or a.owner_user_ref = ${caller.ref}${orInTeamsWith(caller, 'assets.admin')}) is true)`;
}

/** Whose use in posts the caller may ask for: the owner's, and any for `assets.admin` (spec 4.3 rule 2). */
export function mayReadUsage(caller: Caller): Predicate {
  return editableAssets(caller);
}

/** With `include_deleted`, for system.admin alone: what is readable, and the trash (choices, assets). */
export function readableAssetsAndTrash(caller: Caller): Predicate {
  return holds(caller, 'system.admin') ? sql`true` : readableAssets(caller);
}

/** Live assets the caller may change, delete or render again: the owner's, and any for `assets.admin` (choices). */
export function editableAssets(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (administers(caller)) return sql`(a.deleted_at is null)`;
  return sql`(a.deleted_at is null and (a.owner_user_ref = ${caller.ref}${orInTeamsWith(caller, 'assets.admin')}))`;
}

/** spec 2.5: `sensitivity` is told to the owner and to administrators only (choices). */
export function maySeeSensitivity(
  caller: Caller,
  { ownerRef, teamId }: { ownerRef: number | null; teamId: string | null },
): boolean {
  if (caller.kind === 'anonymous') return false;
  const inTeam = teamId !== null && teamsWith(caller, 'assets.admin').includes(teamId);
  return administers(caller) || caller.ref === ownerRef || inTeam;
}

/** Teams the caller may give a new asset to: those they belong to, or any for `teams.write`. Alias `t`. */
export function assignableTeams(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (holds(caller, 'teams.write')) return sql`(t.deleted_at is null)`;
  const teams = teamsWith(caller, 'teams.write');
  const written = teams.length === 0 ? sql`` : sql` or t.id = any(${teams}::uuid[])`;
  return sql`(t.deleted_at is null and (exists (
    select from team_members tm where tm.team_id = t.id and tm.user_ref = ${caller.ref})${written}))`;
}

/** Pictures an account may show beside its name: its own, and for everybody's eyes. */
export function portraits(ownerRef: number): Predicate {
  return sql`(a.deleted_at is null and a.owner_user_ref = ${ownerRef} and a.status = 'active'
    and a.sensitivity = 'public' and not a.mature and exists (select from files f where f.hash = a.file_hash
      and (f.renditions ? 'col' or (a.processing_status = 'pending' and f.mime like 'image/%'))))`;
}
