import type { TeamRole } from '@vitrine/contract/teams';
import { teamRoles } from '@vitrine/contract/teams';
import type { UserAction, UserActionKind } from '@vitrine/contract/user-batches';
import { type RawBuilder, sql } from 'kysely';
import { administersWith, checkMayGive, givesAdministration } from '../../../access/accounts.ts';
import { checkMayGiveRole } from '../../../access/teams.ts';
import { needed, pairOf as pairOfContent, type SubjectAction } from '../../../content/batches/actions.ts';
import type { Action, Pair, StoredAction } from '../../../content/batches/step.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import { capabilitiesOfRole, findRole, writeRole } from '../../../people/roles/roles.ts';
import { addMembers, keepMembers, removeMembers } from '../../../people/teams/members.ts';
import { lockTeam } from '../../../people/teams/write.ts';
import { writeExpiry } from '../../../people/users/administer.ts';
import { writeStatus } from '../../../people/users/status.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { checkInFuture } from '../../../platform/http/moments.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { type AccountRow, changeAccounts, OWN_ACCOUNT } from './change-accounts.ts';

interface StatusRow extends AccountRow {
  same: boolean;
}

function setStatus({ status, reason }: UserAction): Action {
  const wanted = needed(status);
  return changeAccounts<StatusRow>(async (tx, caller) => ({
    // A status that a directory gave becomes one that a person gave.
    columns: sql`u.status = ${wanted} and u.status_provider is null as same`,
    own: OWN_ACCOUNT,
    isUnchanged: ({ same }) => same,
    demotes: () => wanted !== 'active',
    write: (refs) => writeStatus(tx, caller, refs, { status: wanted, reason: reason ?? null }),
  }));
}

/** Returns the role that an action names by its id or its code, with its capabilities. */
async function readRole(tx: Tx, { role, role_id }: UserAction) {
  const condition: RawBuilder<boolean> = role_id === undefined ? sql`code = ${role}` : sql`id = ${role_id}`;
  const found = await findRole(tx, condition);
  if (found === null) throw refuse('role-not-found');
  return { ...found, capabilities: await capabilitiesOfRole(tx, found.id) };
}

interface RoleRow extends AccountRow {
  same: boolean;
  stays: boolean;
}

function setRole(action: UserAction): Action {
  const { role, role_id } = action;
  if (role !== undefined && role_id !== undefined)
    throw refuse('exclusive-properties', { property: 'role', other: 'role_id' });
  if (role === undefined && role_id === undefined)
    throw refuse('batch-action-lacks', { kind: action.kind, property: 'role' });
  return changeAccounts<RoleRow>(async (tx, caller) => {
    const given = await readRole(tx, action);
    checkMayGive(caller, given.capabilities);
    return {
      columns: sql`u.role_id = ${given.id} and u.role_provider is null as same,
        ${administersWith(sql`${givesAdministration(given.capabilities)}::boolean`)} as stays`,
      own: OWN_ACCOUNT,
      isUnchanged: ({ same }) => same,
      demotes: ({ stays }) => !stays,
      write: (refs) => writeRole(tx, caller, refs, given),
    };
  });
}

interface MemberRow extends AccountRow {
  member_role: TeamRole | null;
  by_provider: boolean;
}

const memberColumns = sql`m.role as member_role, m.provider is not null as by_provider`;
const memberOf = (team: string) =>
  sql`left join team_members m on m.team_id = ${team} and m.user_ref = u.ref`;

function addToTeam({ team_id, role }: UserAction): Action {
  const team = needed(team_id);
  const given = role === undefined ? null : (teamRoles.find((known) => known === role) ?? null);
  if (role !== undefined && given === null)
    throw refuse('value-not-listed', { property: 'body.action.role' });
  return changeAccounts<MemberRow>(async (tx, caller) => {
    await lockTeam(tx, caller, team);
    checkMayGiveRole(caller, team, given ?? 'member');
    return {
      columns: memberColumns,
      joins: memberOf(team),
      own: refuse('cannot-add-yourself-to-team').message,
      isUnchanged: ({ member_role, by_provider }) =>
        member_role !== null && !by_provider && (given === null || given === member_role),
      async write(_, rows) {
        const refsOf = (some: readonly MemberRow[]) => some.map(({ ref }) => ref);
        const added = refsOf(rows.filter(({ member_role }) => member_role === null));
        const kept = refsOf(rows.filter(({ member_role }) => member_role !== null));
        await addMembers(tx, caller, { team, refs: added, role: given ?? 'member' });
        await keepMembers(tx, caller, { team, refs: kept, role: given });
      },
    };
  });
}

function removeFromTeam({ team_id }: UserAction): Action {
  const team = needed(team_id);
  return changeAccounts<MemberRow>(async (tx, caller) => {
    await lockTeam(tx, caller, team);
    return {
      columns: memberColumns,
      joins: memberOf(team),
      own: null,
      isUnchanged: ({ member_role }) => member_role === null,
      async write(refs) {
        await removeMembers(tx, caller, { team, refs });
      },
    };
  });
}

interface ExpiryRow extends AccountRow {
  same: boolean;
}

function setExpiry({ expires_at }: UserAction): Action {
  const at = needed(expires_at);
  return changeAccounts<ExpiryRow>(async (tx, caller) => {
    checkInFuture('expires_at', at);
    return {
      columns: sql`u.expires_at is not distinct from ${at}::timestamptz as same`,
      own: OWN_ACCOUNT,
      isUnchanged: ({ same }) => same,
      demotes: () => at !== null,
      write: (refs) =>
        writeExpiry(
          tx,
          caller,
          refs.map((ref) => ({ ref, expires_at: at })),
        ),
    };
  });
}

interface SessionRow extends AccountRow {
  ended: number;
}

function endSessions(): Action {
  return changeAccounts<SessionRow>(async (tx, caller) => ({
    columns: sql`(select count(*)::integer from sessions s where s.user_ref = u.ref) as ended`,
    own: 'a batch does not end your own sessions',
    isUnchanged: ({ ended }) => ended === 0,
    async write(refs, rows) {
      await sql`delete from sessions where user_ref = any(${[...refs]}::bigint[])`.execute(tx);
      const events = rows.map(({ ref, ended }) => ({
        event: 'auth.sessions.ended',
        subjectUserRef: ref,
        metadata: { ended },
      }));
      await recordEvents(tx, caller, events);
    },
  }));
}

const actions: Readonly<Record<UserActionKind, (action: UserAction) => Action>> = {
  set_status: setStatus,
  set_role: setRole,
  add_to_team: addToTeam,
  remove_from_team: removeFromTeam,
  set_expiry: setExpiry,
  end_sessions: endSessions,
};

/** Returns what an action does to accounts (BATCH-13). */
export function accountAction(action: UserAction): Action {
  return actions[action.kind](action);
}

/** Returns what a stored action does and what undoes it; nothing undoes changes of accounts (BATCH-14). */
export function pairOf(stored: StoredAction): Pair {
  // Actions are stored with the kind of their objects, after they were checked.
  return stored.subject === 'user'
    ? { run: accountAction(stored.action as UserAction), undo: null }
    : pairOfContent(stored as SubjectAction);
}
