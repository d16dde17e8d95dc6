import { teamRoles } from '@vitrine/contract/teams';
import type { UserAction, UserActionKind } from '@vitrine/contract/user-batches';
import { type RawBuilder, sql } from 'kysely';
import { administersWith, checkMayGive, givesAdministration } from '../../../access/accounts.ts';
import { checkMayGiveRole } from '../../../access/teams.ts';
import { needed, pairOf as pairOfContent, type SubjectAction } from '../../../content/batches/actions.ts';
import type { Action, Pair, StoredAction } from '../../../content/batches/step.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import { sessionsOf } from '../../../people/identity/sessions.ts';
import { capabilitiesOfRole, findRole, writeRole } from '../../../people/roles/roles.ts';
import { addMembers, keepMembers, removeMembers } from '../../../people/teams/members.ts';
import { lockTeam } from '../../../people/teams/write.ts';
import { writeExpiry } from '../../../people/users/administer.ts';
import { writeStatus } from '../../../people/users/status.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { checkInFuture } from '../../../platform/http/moments.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import { type AccountRow, changeAccounts, OWN_ACCOUNT, OWN_MEMBERSHIP } from './change-accounts.ts';
import {
  type ExpiryRow,
  expiryNow,
  type MemberRow,
  memberNow,
  memberOf,
  type RoleRow,
  roleNow,
  type StatusRow,
  statusNow,
} from './states.ts';
import { undoExpiry, undoMembership, undoRole, undoStatus } from './undo.ts';

function setStatus({ status, reason }: UserAction): Action {
  const wanted = needed(status);
  return changeAccounts<StatusRow>(async (tx, caller) => ({
    now: statusNow,
    own: OWN_ACCOUNT,
    // A status that a directory gave becomes one that a person gave.
    isUnchanged: ({ now }) => now.status === wanted && now.provider === null,
    demotes: () => wanted !== 'active',
    after: () => ({ status: wanted, provider: null }),
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

interface StayingRow extends RoleRow {
  stays: boolean;
}

function setRole(action: UserAction): Action {
  const { role, role_id } = action;
  if (role !== undefined && role_id !== undefined)
    throw refuse('exclusive-properties', { property: 'role', other: 'role_id' });
  if (role === undefined && role_id === undefined)
    throw refuse('batch-action-lacks', { kind: action.kind, property: 'role' });
  return changeAccounts<StayingRow>(async (tx, caller) => {
    const given = await readRole(tx, action);
    checkMayGive(caller, given.capabilities);
    return {
      now: roleNow,
      columns: sql`${administersWith(sql`${givesAdministration(given.capabilities)}::boolean`)} as stays`,
      own: OWN_ACCOUNT,
      isUnchanged: ({ now }) => now.role_id === given.id && now.provider === null,
      demotes: ({ stays }) => !stays,
      after: () => ({ role_id: given.id, provider: null }),
      write: (refs) => writeRole(tx, caller, refs, given),
    };
  });
}

function addToTeam({ team_id, role }: UserAction): Action {
  const team = needed(team_id);
  const given = role === undefined ? null : (teamRoles.find((known) => known === role) ?? null);
  if (role !== undefined && given === null)
    throw refuse('value-not-listed', { property: 'body.action.role' });
  return changeAccounts<MemberRow>(async (tx, caller) => {
    await lockTeam(tx, caller, team);
    checkMayGiveRole(caller, team, given ?? 'member');
    return {
      now: memberNow,
      joins: memberOf(team),
      own: OWN_MEMBERSHIP,
      isUnchanged: ({ now }) => now?.provider === null && (given === null || given === now.role),
      after: ({ now }) => ({ role: given ?? now?.role ?? 'member', provider: null }),
      async write(_, rows) {
        const refsOf = (some: readonly MemberRow[]) => some.map(({ ref }) => ref);
        const added = refsOf(rows.filter(({ now }) => now === null));
        const kept = refsOf(rows.filter(({ now }) => now !== null));
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
      now: memberNow,
      joins: memberOf(team),
      own: null,
      isUnchanged: ({ now }) => now === null,
      after: () => null,
      async write(refs) {
        await removeMembers(tx, caller, { team, refs });
      },
    };
  });
}

interface NextExpiryRow extends ExpiryRow {
  /** The new expiry, as PostgreSQL writes it. */
  next: ExpiryRow['now'];
}

function setExpiry({ expires_at }: UserAction): Action {
  const at = needed(expires_at);
  return changeAccounts<NextExpiryRow>(async (tx, caller) => {
    checkInFuture('expires_at', at);
    return {
      now: expiryNow,
      columns: sql`to_jsonb(${at}::timestamptz) as next`,
      own: OWN_ACCOUNT,
      isUnchanged: ({ now, next }) => now === next,
      demotes: () => at !== null,
      after: ({ next }) => next,
      write: (refs) =>
        writeExpiry(
          tx,
          caller,
          refs.map((ref) => ({ ref, expires_at: at })),
        ),
    };
  });
}

/** An account with the number of its sessions. */
type SessionRow = AccountRow<number>;

function endSessions(): Action {
  return changeAccounts<SessionRow>(async (tx, caller) => ({
    now: sql`(select count(*)::integer from sessions s where s.user_ref = u.ref or s.impersonator_user_ref = u.ref)`,
    own: sentence('a batch does not end your own sessions'),
    isUnchanged: ({ now }) => now === 0,
    after: () => 0,
    async write(refs, rows) {
      await sql`delete from sessions where ${sessionsOf(refs)}`.execute(tx);
      const events = rows.map(({ ref, now: ended }) => ({
        event: 'auth.sessions.ended',
        subjectUserRef: ref,
        metadata: { ended },
      }));
      await recordEvents(tx, caller, events);
    },
  }));
}

const actions: Readonly<Record<UserActionKind, (action: UserAction) => Pair>> = {
  set_status: (action) => ({ run: setStatus(action), undo: undoStatus }),
  set_role: (action) => ({ run: setRole(action), undo: undoRole }),
  add_to_team: (action) => ({ run: addToTeam(action), undo: undoMembership(needed(action.team_id)) }),
  remove_from_team: (action) => ({
    run: removeFromTeam(action),
    undo: undoMembership(needed(action.team_id)),
  }),
  set_expiry: (action) => ({ run: setExpiry(action), undo: undoExpiry }),
  // A session that has ended cannot begin again.
  end_sessions: () => ({ run: endSessions(), undo: null }),
};

/** Returns what an action does to accounts (BATCH-13). */
export function accountAction(action: UserAction): Action {
  return actions[action.kind](action).run;
}

/** Returns what a stored action does and what undoes it. */
export function pairOf(stored: StoredAction): Pair {
  // Actions are stored with the kind of their objects, after they were checked.
  if (stored.subject !== 'user') return pairOfContent(stored as SubjectAction);
  const action = stored.action as UserAction;
  return actions[action.kind](action);
}
