import type { BodyOf } from '@vitrine/contract/operation';
import type { PasskeyAssertion } from '@vitrine/contract/passkey-assertion';
import { continueSignIn } from '@vitrine/contract/provider-sign-in';
import { sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { completeSignIn } from '../identity/complete-sign-in.ts';
import { forgetFailures, isLocked, recordFailure } from '../identity/lock-out.ts';
import { accountByPasskey } from '../identity/passkey-proof.ts';
import { findEnabledProvider, type RedirectProvider } from '../identity/provider-registry.ts';
import { checkSecondFactor } from '../identity/second-factor.ts';
import { claimedAccounts, follow, linkPerson } from './admit.ts';
import { findPending, type PendingSignIn, usePending } from './flows.ts';

interface Account {
  ref: number;
  username: string;
  password_hash: string | null;
  hashed_as: string;
  two_factor: boolean;
}

/** Each costs a hash. */
const MOST_CANDIDATES = 3;

async function accountsOf(db: Database, condition: ReturnType<typeof sql<boolean>>): Promise<Account[]> {
  const { rows } = await sql<Account>`
    select u.ref, u.username, u.password_hash, coalesce(u.hashed_as, u.username) as hashed_as,
      f.confirmed_at is not null as two_factor
    from users u left join two_factor f on f.user_ref = u.ref
    where ${activeAccount('u')} and ${condition} order by u.ref limit ${MOST_CANDIDATES}`.execute(db);
  return rows;
}

/** Returns the account whose password this is, among those with the name or e-mail of the person (SSO-15). */
async function confirmed(
  deps: Deps,
  { person }: PendingSignIn,
  password: string,
  http: HttpFacts,
): Promise<Account> {
  const { db, passwords } = deps;
  if (person === null) throw refuse('sign-in-expired');
  const accounts = await accountsOf(db, sql`(${claimedAccounts(person)} and u.provider <> 'ldap')`);
  for (const account of accounts) {
    const { matches } = await passwords.verify(account.hashed_as, password, account.password_hash);
    if (matches && !(await isLocked(db, account.username))) return account;
  }
  for (const { username } of accounts) await recordFailure(db, username, http.address);
  throw refuse('wrong-credentials');
}

/** Returns the account that a passkey proves, if it has the name or e-mail of the person (SSO-15). */
async function confirmedByPasskey(
  deps: Deps,
  { person }: PendingSignIn,
  passkey: PasskeyAssertion,
  http: HttpFacts,
): Promise<Account> {
  if (person === null) throw refuse('sign-in-expired');
  const { ref } = await accountByPasskey(deps, passkey, http);
  const [account] = await accountsOf(deps.db, sql`(${claimedAccounts(person)} and u.ref = ${ref})`);
  if (account === undefined) throw refuse('wrong-credentials');
  return account;
}

async function waiting({ db }: Deps, { userRef }: PendingSignIn): Promise<Account> {
  const [account] = await accountsOf(db, sql`u.ref = ${userRef}`);
  if (account === undefined) throw refuse('sign-in-expired');
  if (await isLocked(db, account.username)) throw refuse('wrong-credentials');
  return account;
}

/** Uses the pending sign-in up, and links the identity if the password has confirmed it. */
async function use({ db }: Deps, provider: RedirectProvider, pending: PendingSignIn, userRef: number) {
  await db.transaction().execute(async (tx) => {
    await takeLock(tx, 'administrators');
    const { person, purpose } = pending;
    if (!(await usePending(tx, pending.id))) throw refuse('sign-in-expired');
    if (purpose !== 'confirm' || person === null) return;
    if (!(await linkPerson(tx, provider, person, userRef))) throw refuse('sign-in-expired');
    await follow(tx, provider, person, userRef);
  });
}

/** Checks what the pending sign-in lacks. A passkey confirms an account alone, since it verifies its user. */
async function prove(
  deps: Deps,
  pending: PendingSignIn,
  { password, totp_code, passkey = null }: BodyOf<typeof continueSignIn>,
  http: HttpFacts,
): Promise<{ account: Account; secondFactor: boolean }> {
  const confirms = pending.purpose === 'confirm';
  if (confirms && password == null && passkey !== null)
    return { account: await confirmedByPasskey(deps, pending, passkey, http), secondFactor: true };
  const account = confirms
    ? await confirmed(deps, pending, password ?? '', http)
    : await waiting(deps, pending);
  const given = { code: totp_code?.trim() ?? '', passkey };
  return { account, secondFactor: await checkSecondFactor(deps, account, given, http) };
}

export const goOn = handle(continueSignIn, async (deps, { body, caller, http }) => {
  const pending = await findPending(deps.db, http);
  const provider = pending === null ? null : await findEnabledProvider(deps, pending.provider);
  if (pending === null || provider === null) throw refuse('sign-in-expired');
  const { account, secondFactor } = await prove(deps, pending, body, http);
  await use(deps, provider, pending, account.ref);
  await forgetFailures(deps.db, account.username);
  const origin = { provider: provider.name, sid: pending.person?.sid ?? null };
  const signedIn = { userRef: account.ref, provider: provider.name, secondFactor, origin };
  const opened = await completeSignIn(deps, signedIn, caller, http);
  return { status: 200, body: opened.body, cookie: opened.cookie };
});
