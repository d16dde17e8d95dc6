import { type RawBuilder, sql } from 'kysely';
import { administers } from '../../../access/accounts.ts';
import { administeredOf } from '../../../access/administered.ts';
import type { SignedIn } from '../../../access/caller.ts';
import {
  type Action,
  type Item,
  type Outcome,
  refused,
  type Step,
  unchanged,
} from '../../../content/batches/step.ts';
import { callerNow, othersAdminister } from '../../../people/roles/last-administrator.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { takeLock } from '../../../platform/database/take-lock.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../../platform/language/sentence.ts';

/** An account that a batch changes; actions add the columns that decide. */
export interface AccountRow<State = unknown> {
  ref: number;
  /** Whether it is one of the administrators that ROLE-11 counts. */
  administers: boolean;
  /** What the action changes, as it is now. */
  now: State;
}

/** What a kind of action does to accounts. */
export interface AccountAction<Row extends AccountRow> {
  /** The column `now`, as JSON: what undoing compares and restores (BATCH-14). */
  readonly now: RawBuilder<unknown>;
  /** The columns of `Row` besides those of AccountRow, of `users u`. */
  readonly columns?: RawBuilder<unknown>;
  readonly joins?: RawBuilder<unknown>;
  /** Why the caller's own account is refused; null if it may be changed. */
  readonly own: Sentence | null;
  /** Returns why the account is refused although the caller administers it; null if it is not. */
  reasonAgainst?(row: Row): Sentence | null;
  /** Whether the account does not change. */
  isUnchanged(row: Row): boolean;
  /** Whether an administrator no longer counts as one afterwards (ROLE-11). */
  demotes?(row: Row): boolean;
  /** Returns what `now` is after the change. */
  after(row: Row): Row['now'];
  write(refs: readonly number[], rows: readonly Row[]): Promise<void>;
}

/** BATCH-13: the reason against the caller's own account. */
export const OWN_ACCOUNT = sentence('a batch does not change your own account');
/** TEAM-9: the reason against adding the caller to a team. */
export const OWN_MEMBERSHIP = refuse('cannot-add-yourself-to-team').sentence;

/** Refuses the last of the changes that together would leave no administrator (ROLE-11). */
async function keepAdministrator<Row extends AccountRow>(
  tx: Tx,
  outcomes: Map<string, Outcome>,
  rows: ReadonlyMap<string, Row>,
  { demotes }: AccountAction<Row>,
): Promise<void> {
  const demoted = [...outcomes].flatMap(([id, { outcome }]) => {
    const row = rows.get(id);
    return outcome === 'changed' && row?.administers === true && demotes?.(row) === true ? [row.ref] : [];
  });
  const last = demoted.at(-1);
  if (last !== undefined && !(await othersAdminister(tx, demoted)))
    outcomes.set(String(last), refused(refuse('last-administrator').sentence));
}

/** Returns why the caller's own account is not changed. */
async function reasonAgainstOwn(tx: Tx, row: AccountRow, own: Sentence): Promise<Sentence> {
  const isLast = own === OWN_ACCOUNT && row.administers && !(await othersAdminister(tx, [row.ref]));
  return isLast ? refuse('last-administrator').sentence : own;
}

/** Decides about an account that the caller administers. */
async function decide<Row extends AccountRow>(
  { tx, caller }: Step,
  row: Row,
  action: AccountAction<Row>,
): Promise<Outcome> {
  if (row.ref === caller.ref && action.own !== null)
    return refused(await reasonAgainstOwn(tx, row, action.own));
  const reason = action.reasonAgainst?.(row) ?? null;
  if (reason !== null) return refused(reason);
  if (action.isUnchanged(row)) return unchanged;
  return { outcome: 'changed', record: { before: row.now, after: action.after(row) } };
}

/**
 * Makes an action of a batch: locks and reads the accounts of a step in the order of their refs, decides about each under
 * ROLE-10 and ROLE-11, and writes those that change. `describe` checks the action itself for the caller.
 */
export function changeAccounts<Row extends AccountRow>(
  describe: (tx: Tx, caller: SignedIn, items: readonly Item[]) => Promise<AccountAction<Row>>,
): Action {
  const run = async (step: Step) => {
    const { tx, items, isDryRun } = step;
    // Under the lock that is taken before the step.
    const caller = await callerNow(tx, step.caller, 'users.write');
    const action = await describe(tx, caller, items);
    const refs = items.map(({ id }) => Number(id));
    const columns = action.columns === undefined ? sql`` : sql`, ${action.columns}`;
    const { rows } =
      await sql<Row>`select u.ref, ${administers} as administers, ${action.now} as now ${columns}
      from users u ${action.joins ?? sql``} where u.ref = any(${refs}::bigint[])
      order by u.ref ${isDryRun ? sql`` : sql`for no key update of u`}`.execute(tx);
    const byId = new Map(rows.map((row) => [String(row.ref), row]));
    const allowed = await administeredOf(
      tx,
      caller,
      rows.map(({ ref }) => ref),
    );
    const outcomes = new Map<string, Outcome>();
    for (const { id } of items) {
      const row = byId.get(id);
      if (row === undefined) outcomes.set(id, refused(notFound().sentence));
      else if (!allowed.has(row.ref)) outcomes.set(id, refused(refuse('account-has-more-rights').sentence));
      else outcomes.set(id, await decide({ ...step, caller }, row, action));
    }
    await keepAdministrator(tx, outcomes, byId, action);
    const written = rows.filter(({ ref }) => outcomes.get(String(ref))?.outcome === 'changed');
    if (!isDryRun && written.length > 0)
      await action.write(
        written.map(({ ref }) => ref),
        written,
      );
    return { outcomes };
  };
  return Object.assign(run, {
    together: true as const,
    before: (tx: Tx) => takeLock(tx, 'administrators'),
  });
}
