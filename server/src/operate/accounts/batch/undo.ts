import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { administersWith, checkMayGive, givesAdministration } from '../../../access/accounts.ts';
import type { SignedIn } from '../../../access/caller.ts';
import { checkMayGiveRole } from '../../../access/teams.ts';
import { type Action, CHANGED_SINCE } from '../../../content/batches/step.ts';
import { allRoles, writeRole } from '../../../people/roles/roles.ts';
import { addMembers, keepMembers, removeMembers } from '../../../people/teams/members.ts';
import { lockTeam } from '../../../people/teams/write.ts';
import { writeExpiry } from '../../../people/users/administer.ts';
import { writeStatus } from '../../../people/users/status.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { Refusal, refuse } from '../../../platform/http/refuse.ts';
import type { Sentence } from '../../../platform/language/sentence.ts';
import {
  type AccountAction,
  type AccountRow,
  changeAccounts,
  OWN_ACCOUNT,
  OWN_MEMBERSHIP,
} from './change-accounts.ts';
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

/** What a batch has recorded of an account: the state before and after its change. */
interface Recorded<State> {
  readonly before: State;
  readonly after: State;
}

/** Accounts that get the same state back. */
interface Returning<State> {
  readonly state: State;
  readonly refs: readonly number[];
}

/** How a kind of action is undone. */
interface Restoration<Row extends AccountRow>
  extends Pick<AccountAction<Row>, 'now' | 'columns' | 'joins' | 'own' | 'demotes' | 'reasonAgainst'> {
  restore(groups: readonly Returning<Row['now']>[]): Promise<void>;
}

/** Groups accounts by the state that they get back. */
function groupsOf<State>(refs: readonly number[], before: (ref: number) => State): Returning<State>[] {
  const groups = new Map<string, { state: State; refs: number[] }>();
  for (const ref of refs) {
    const state = before(ref);
    const key = JSON.stringify(state);
    const group = groups.get(key) ?? { state, refs: [] };
    group.refs.push(ref);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/**
 * Makes the action that undoes another one: gives accounts back the state that the batch recorded, which `before` returns.
 * Refuses an account whose state is not the one that the batch gave it (BATCH-9).
 */
function undoAccounts<Row extends AccountRow>(
  describe: (tx: Tx, caller: SignedIn, before: (ref: number) => Row['now']) => Promise<Restoration<Row>>,
): Action {
  return changeAccounts<Row>(async (tx, caller, items) => {
    // The action that this undoes wrote the records.
    const recorded = new Map(
      items.map(({ id, record }) => [Number(id), record as Recorded<Row['now']> | null]),
    );
    const before = (ref: number): Row['now'] => recorded.get(ref)?.before;
    const { restore, reasonAgainst, ...rest } = await describe(tx, caller, before);
    return {
      ...rest,
      reasonAgainst: (row) =>
        isDeepStrictEqual(recorded.get(row.ref)?.after, row.now)
          ? (reasonAgainst?.(row) ?? null)
          : CHANGED_SINCE,
      isUnchanged: () => false,
      after: ({ ref }) => before(ref),
      write: (refs) => restore(groupsOf(refs, before)),
    };
  });
}

export const undoStatus = undoAccounts<StatusRow>(async (tx, caller, before) => ({
  now: statusNow,
  own: OWN_ACCOUNT,
  demotes: ({ ref }) => before(ref).status !== 'active',
  async restore(groups) {
    for (const { state, refs } of groups) await writeStatus(tx, caller, refs, state);
  },
}));

/** Returns the sentence of the refusal that a check throws; null if it passes. */
function reasonOf(check: () => void): Sentence | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.sentence;
    throw error;
  }
}

interface DemotableRow extends RoleRow {
  /** Whether the account would be an administrator with a role that makes administrators, and with another one. */
  with_role: boolean;
  without_role: boolean;
}

export const undoRole = undoAccounts<DemotableRow>(async (tx, caller, before) => {
  const roles = new Map((await allRoles(tx)).map((role) => [role.id, role]));
  /** Returns the role that an account gets back; throws 404 if it has been deleted. */
  const roleOf = (id: string) => {
    const role = roles.get(id);
    if (role === undefined) throw refuse('role-not-found');
    return role;
  };
  return {
    now: roleNow,
    columns: sql`${administersWith(sql`true`)} as with_role, ${administersWith(sql`false`)} as without_role`,
    own: OWN_ACCOUNT,
    reasonAgainst: ({ ref }) =>
      reasonOf(() => checkMayGive(caller, roleOf(before(ref).role_id).capabilities)),
    demotes: ({ ref, with_role, without_role }) =>
      !(givesAdministration(roleOf(before(ref).role_id).capabilities) ? with_role : without_role),
    async restore(groups) {
      for (const { state, refs } of groups)
        await writeRole(tx, caller, refs, { ...roleOf(state.role_id), provider: state.provider });
    },
  };
});

export const undoExpiry = undoAccounts<ExpiryRow>(async (tx, caller, before) => ({
  now: expiryNow,
  own: OWN_ACCOUNT,
  demotes: ({ ref }) => before(ref) !== null,
  restore: (groups) =>
    writeExpiry(
      tx,
      caller,
      groups.flatMap(({ state, refs }) => refs.map((ref) => ({ ref, expires_at: state }))),
    ),
}));

/** Undoes what a batch did to the members of a team: removes those that it added, and gives the others their role back. */
export function undoMembership(team: string): Action {
  return undoAccounts<MemberRow>(async (tx, caller, before) => {
    await lockTeam(tx, caller, team);
    return {
      now: memberNow,
      joins: memberOf(team),
      own: OWN_MEMBERSHIP,
      reasonAgainst({ ref }) {
        const role = before(ref)?.role;
        return role === undefined ? null : reasonOf(() => checkMayGiveRole(caller, team, role));
      },
      async restore(groups) {
        for (const { state, refs } of groups)
          if (state === null) await removeMembers(tx, caller, { team, refs });
          else {
            await addMembers(tx, caller, { team, refs, role: state.role });
            await keepMembers(tx, caller, { team, refs, ...state });
          }
      },
    };
  });
}
