import { Username } from '@vitrine/contract/identity';
import { foldName } from '@vitrine/contract/names';
import type { UserColumn } from '@vitrine/contract/user-csv';
import { FullName } from '@vitrine/contract/users';
import { Email, Timestamp } from '@vitrine/contract/values';
import { givesAdministration, mayGive } from '../../../access/accounts.ts';
import type { SignedIn } from '../../../access/caller.ts';
import { othersAdminister } from '../../../people/roles/last-administrator.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { type Sentence, SentenceError, sentence } from '../../../platform/language/sentence.ts';
import { type Known, type KnownAccount, slugsIn } from './known.ts';
import type { AccountLine } from './read-rows.ts';

/** A cell that differs. */
interface CellChange {
  readonly field: UserColumn;
  readonly from: string | null;
  readonly to: string | null;
}

/** What a row does. */
export interface Decision {
  readonly row: number;
  readonly username: string;
  /** Null if there is none yet. */
  readonly account: KnownAccount | null;
  readonly changes: readonly CellChange[];
  /** Why nothing of it is written. */
  readonly reason: Sentence | null;
}

/** The role of new accounts whose row names none. */
export const DEFAULT_ROLE = 'member';

/** CSV-14: the reason against a row that takes the caller's own rights. */
const OWN_ACCOUNT = sentence('an import does not change your own role or expiry');

const is = {
  username: compileLater(Username),
  fullname: compileLater(FullName),
  email: compileLater(Email),
  time: compileLater(Timestamp),
};

/** Thrown for a row that is refused alone. */
class RowRefused extends SentenceError {}

function need(condition: boolean, reason: Sentence): asserts condition {
  if (!condition) throw new RowRefused(reason);
}

/** Returns a time; a day alone begins at midnight UTC. */
function timeIn(cell: string): string {
  const text = /^\d{4}-\d{2}-\d{2}$/.test(cell) ? `${cell}T00:00:00Z` : cell;
  need(
    is.time().Check(text) && !Number.isNaN(Date.parse(text)),
    sentence('expires_at is not a time, such as {example}', { example: '2027-01-31T12:00:00Z' }),
  );
  return new Date(text).toISOString();
}

const isSameTime = (one: string | null, other: string | null) =>
  one === other || (one !== null && other !== null && Date.parse(one) === Date.parse(other));

const joined = (slugs: readonly string[]) => (slugs.length === 0 ? null : slugs.toSorted().join('|'));

/** Returns what a cell gives the account, in the form in which an export writes it; null removes the value. */
function valueIn(field: UserColumn, cell: string | null, { roles, teams }: Known): string | null {
  if (field === 'role') {
    need(cell !== null, sentence('an account needs a role'));
    const role = cell.toLowerCase();
    need(roles.has(role), refuse('role-not-found').sentence);
    return role;
  }
  if (cell === null) return null;
  if (field === 'fullname')
    need(is.fullname().Check(cell), sentence('fullname has more than 200 characters'));
  if (field === 'email') need(is.email().Check(cell), sentence('email is not an address'));
  if (field === 'expires_at') return timeIn(cell);
  if (field !== 'teams') return cell;
  const slugs = slugsIn(cell);
  const unknown = slugs.find((slug) => !teams.has(slug));
  need(unknown === undefined, sentence('there is no team {team}', { team: unknown ?? '' }));
  return joined(slugs.map((slug) => teams.get(slug)?.slug ?? slug));
}

const emptyAccount = { fullname: null, email: null, expires_at: null, role: null, teams: [] };

function changesOf(line: AccountLine, account: KnownAccount | null, known: Known): CellChange[] {
  const { teams, ...before } = account ?? emptyAccount;
  const current = { ...before, teams: joined(teams) };
  const given = [...line.cells].flatMap(([field, cell]): CellChange[] => {
    if (field === 'username') return [];
    const from = current[field];
    const to = valueIn(field, cell, known);
    // Cells are read without the spaces around them, which a name may have.
    const isSame = field === 'expires_at' ? isSameTime(from, to) : (from?.trim() ?? null) === to;
    return isSame ? [] : [{ field, from, to }];
  });
  const needsRole = account === null && !given.some(({ field }) => field === 'role');
  return needsRole ? [...given, { field: 'role', from: null, to: DEFAULT_ROLE }] : given;
}

/** Returns the teams that an account joins and leaves. */
export function teamChanges({ changes }: Pick<Decision, 'changes'>): { joined: string[]; left: string[] } {
  const change = changes.find(({ field }) => field === 'teams');
  const before = new Set(slugsIn(change?.from ?? ''));
  const after = new Set(slugsIn(change?.to ?? ''));
  return {
    joined: [...after].filter((slug) => !before.has(slug)),
    left: [...before].filter((slug) => !after.has(slug)),
  };
}

/** Throws unless the caller may make these changes (CSV-14). */
function checkRights(
  caller: SignedIn,
  account: KnownAccount | null,
  changes: readonly CellChange[],
  known: Known,
): void {
  const changeOf = (name: UserColumn) => changes.find(({ field }) => field === name);
  const isOwn = account?.ref === caller.ref;
  need(account === null || known.administered.has(account.ref), refuse('account-has-more-rights').sentence);
  const role = changeOf('role')?.to;
  const expiry = changeOf('expires_at');
  need(!isOwn || (role === undefined && expiry === undefined), OWN_ACCOUNT);
  if (role != null)
    need(mayGive(caller, known.roles.get(role)?.capabilities ?? []), refuse('capability-not-held').sentence);
  need(
    expiry?.to == null || Date.parse(expiry.to) > Date.now(),
    refuse('time-in-the-past', { property: 'expires_at' }).sentence,
  );
  const teams = teamChanges({ changes });
  const foreign = [...teams.joined, ...teams.left].find((slug) => known.teams.get(slug)?.writable !== true);
  need(
    foreign === undefined,
    sentence('you may not change the members of the team {team}', { team: foreign ?? '' }),
  );
  need(!isOwn || teams.joined.length === 0, refuse('cannot-add-yourself-to-team').sentence);
}

function decideLine(caller: SignedIn, line: AccountLine, other: number | undefined, known: Known): Decision {
  const { row, username } = line;
  const account = known.accounts.get(foldName(username)) ?? null;
  const decision = { row, username: account?.username ?? username, account };
  try {
    if (line.fault !== null) throw new RowRefused(line.fault);
    need(username !== '', sentence('it has no username'));
    need(
      is.username().Check(username),
      sentence('username has more than 100 characters, or is not one line'),
    );
    need(
      other === undefined,
      sentence('{value} is in row {other}, too', { value: username, other: String(other) }),
    );
    const changes = changesOf(line, account, known);
    if (changes.length > 0) checkRights(caller, account, changes, known);
    return { ...decision, changes, reason: null };
  } catch (error) {
    if (!(error instanceof RowRefused)) throw error;
    return { ...decision, changes: [], reason: error.sentence };
  }
}

/** Whether an administrator no longer counts as one afterwards (ROLE-11). */
function demotes({ account, changes }: Decision, { roles }: Known): boolean {
  if (account?.administers !== true) return false;
  return changes.some(
    ({ field, to }) =>
      (field === 'expires_at' && to !== null) ||
      (field === 'role' &&
        !account.by_grant &&
        !givesAdministration(roles.get(to ?? '')?.capabilities ?? [])),
  );
}

/** Decides about each row; refuses the last of those that together would leave no administrator. */
export async function decide(
  tx: Tx,
  caller: SignedIn,
  lines: readonly AccountLine[],
  known: Known,
): Promise<Decision[]> {
  const seen = new Map<string, number>();
  const decisions = lines.map((line) => {
    const key = foldName(line.username);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, line.row);
    return decideLine(caller, line, other, known);
  });
  const demoted = decisions.filter((decision) => demotes(decision, known));
  const last = demoted.at(-1);
  const refs = demoted.flatMap(({ account }) => account?.ref ?? []);
  if (last === undefined || (await othersAdminister(tx, refs))) return decisions;
  const reason = refuse('last-administrator').sentence;
  return decisions.map((decision) => (decision === last ? { ...decision, changes: [], reason } : decision));
}
