import { foldName } from '@vitrine/contract/names';
import type { UserColumn } from '@vitrine/contract/user-csv';
import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import { keyOfEmail } from '../../../people/identity/email-keys.ts';
import { writeRole } from '../../../people/roles/roles.ts';
import { addMembers, removeMembers } from '../../../people/teams/members.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { DEFAULT_ROLE, type Decision, teamChanges } from './decide.ts';
import type { Known } from './known.ts';

/** Returns what a row gives a property; undefined if it leaves it. */
const given = ({ changes }: Decision, field: UserColumn) =>
  changes.find((change) => change.field === field)?.to;

/** Creates accounts without passwords, and returns their refs by the keys of their usernames. */
async function createAccounts(
  tx: Tx,
  caller: SignedIn,
  decisions: readonly Decision[],
  { roles }: Known,
): Promise<ReadonlyMap<string, number>> {
  const accounts = decisions.map((decision) => ({
    username: decision.username,
    username_key: foldName(decision.username),
    role_id: roles.get(given(decision, 'role') ?? DEFAULT_ROLE)?.id,
    fullname: given(decision, 'fullname') ?? null,
    email: given(decision, 'email') ?? null,
    email_key: keyOfEmail(given(decision, 'email')),
    expires_at: given(decision, 'expires_at') ?? null,
  }));
  const { rows } = await sql<{ ref: number; username_key: string | null }>`
    insert into users (username, username_key, role_id, fullname, email, email_key, expires_at)
    select username, username_key, role_id, fullname, email, email_key, expires_at
    from jsonb_to_recordset(${JSON.stringify(accounts)}::jsonb) as a (username text, username_key text, role_id uuid,
      fullname text, email text, email_key text, expires_at timestamptz)
    on conflict do nothing returning ref, username_key`.execute(tx);
  const refs = new Map(rows.map(({ ref, username_key }) => [username_key ?? '', ref]));
  const events = decisions.flatMap((decision) => {
    const subjectUserRef = refs.get(foldName(decision.username));
    const metadata = { username: decision.username, role: given(decision, 'role') ?? DEFAULT_ROLE };
    return subjectUserRef === undefined ? [] : [{ event: 'user.created', subjectUserRef, metadata }];
  });
  await recordEvents(tx, caller, events);
  return refs;
}

const properties = ['fullname', 'email', 'expires_at'] as const;

/** Changes names, addresses and expiry of accounts, which are locked. */
async function changeProperties(tx: Tx, caller: SignedIn, decisions: readonly Decision[]): Promise<void> {
  const changed = decisions.flatMap((decision) => {
    const { account, changes } = decision;
    const names = properties.filter((name) => changes.some(({ field }) => field === name));
    if (account === null || names.length === 0) return [];
    const { ref } = account;
    const [fullname, email, expires_at] = properties.map((name) =>
      names.includes(name) ? (given(decision, name) ?? null) : account[name],
    );
    return [{ names: names.toSorted(), ref, fullname, email, email_key: keyOfEmail(email), expires_at }];
  });
  await sql`update users u set fullname = c.fullname, email = c.email, email_key = c.email_key,
      expires_at = c.expires_at, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) as c (ref bigint, fullname text, email text,
      email_key text, expires_at timestamptz) where u.ref = c.ref`.execute(tx);
  const events = changed.map(({ ref, names }) => ({
    event: 'user.updated',
    subjectUserRef: ref,
    metadata: { changed: names },
  }));
  await recordEvents(tx, caller, events);
}

async function changeRoles(tx: Tx, caller: SignedIn, decisions: readonly Decision[], { roles }: Known) {
  const changed = decisions.filter(
    (decision) => decision.account !== null && given(decision, 'role') != null,
  );
  for (const [code, same] of Map.groupBy(changed, (decision) => given(decision, 'role') ?? '')) {
    const role = roles.get(code);
    const refs = same.flatMap(({ account }) => account?.ref ?? []);
    if (role !== undefined) await writeRole(tx, caller, refs, role);
  }
}

/** Changes members team by team: those who join become members, and others keep their role in the team. */
async function changeTeams(
  tx: Tx,
  caller: SignedIn,
  decisions: readonly Decision[],
  refOf: (decision: Decision) => number | undefined,
  { teams }: Known,
): Promise<void> {
  const moves = decisions.flatMap((decision) => {
    const ref = refOf(decision);
    const { joined, left } = teamChanges(decision);
    if (ref === undefined) return [];
    return [
      ...joined.map((slug) => ({ slug, ref, joins: true })),
      ...left.map((slug) => ({ slug, ref, joins: false })),
    ];
  });
  for (const [slug, ofTeam] of Map.groupBy(moves, (move) => move.slug)) {
    const team = teams.get(slug)?.id;
    if (team === undefined) continue;
    const refsOf = (joins: boolean) => ofTeam.flatMap((move) => (move.joins === joins ? [move.ref] : []));
    await addMembers(tx, caller, { team, refs: refsOf(true), role: 'member' });
    await removeMembers(tx, caller, { team, refs: refsOf(false) });
  }
}

/**
 * Writes what the rows of a file change. The number of statements depends on the roles and teams that change, not on the
 * rows. Returns the decisions again: a username that another request has taken meanwhile is refused.
 */
export async function writeDecisions(
  tx: Tx,
  caller: SignedIn,
  decisions: readonly Decision[],
  known: Known,
): Promise<Decision[]> {
  const taken = decisions.filter(({ changes }) => changes.length > 0);
  const created = await createAccounts(
    tx,
    caller,
    taken.filter(({ account }) => account === null),
    known,
  );
  const refOf = ({ account, username }: Decision) => account?.ref ?? created.get(foldName(username));
  const written = taken.filter((decision) => refOf(decision) !== undefined);
  await changeProperties(tx, caller, written);
  await changeRoles(tx, caller, written, known);
  await changeTeams(tx, caller, written, refOf, known);
  const reason = refuse('username-taken').sentence;
  return decisions.map((decision) =>
    decision.changes.length > 0 && refOf(decision) === undefined
      ? { ...decision, changes: [], reason }
      : decision,
  );
}
