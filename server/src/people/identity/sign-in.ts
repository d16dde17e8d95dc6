import { login } from '@vitrine/contract/identity';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { forgetFailures, isLocked, recordFailure } from './lock-out.ts';
import { accountOf } from './provided-account.ts';
import { findEnabledProvider, startPath } from './provider-registry.ts';
import { checkSecondFactor } from './second-factor.ts';

/** SIGNIN-3: one text for every failure, so that callers learn nothing about accounts and providers. */
function badCredentials() {
  return refuse('wrong-credentials');
}

interface Account {
  ref: number;
  username: string;
  password_hash: string | null;
  hashed_as: string;
  two_factor: boolean;
}

async function findAccount(db: Database, condition: ReturnType<typeof sql<boolean>>) {
  const { rows } = await sql<Account>`
    select u.ref, u.username, u.password_hash, coalesce(u.hashed_as, u.username) as hashed_as, f.confirmed_at is not null as two_factor
    from users u left join two_factor f on f.user_ref = u.ref
    where ${activeAccount('u')} and ${condition}`.execute(db);
  return rows[0];
}

interface Attempt {
  username: string;
  password: string;
}

/** An account whose password or directory entry was verified. */
interface Verified extends Account {
  /** Whether its password hash is of an earlier form or cost. */
  outdated: boolean;
}

/** Returns the account of these credentials by the built-in passwords. */
async function byPassword(deps: Deps, { username, password }: Attempt): Promise<Verified | null> {
  const { db, passwords } = deps;
  const account = await findAccount(
    db,
    sql`u.username_key = ${foldName(username)} 
      and (u.provider <> 'ldap' or u.password_hash is not null)`,
  );
  const stored = account?.password_hash ?? null;
  const { matches, outdated } = await passwords.verify(account?.hashed_as ?? username, password, stored);
  return account === undefined || !matches ? null : { ...account, outdated };
}

/** SIGNIN-7: replaces the hash of this password, unless the password has changed meanwhile. */
async function renewHash({ db, passwords }: Deps, account: Account, password: string): Promise<void> {
  const password_hash = await passwords.hash(account.username, password);
  await db
    .updateTable('users')
    .set({ password_hash })
    .where('ref', '=', account.ref)
    .where('password_hash', '=', account.password_hash)
    .execute();
}

/**
 * Returns the account that a directory authenticated, created on the first sign-in; 501 for a provider that is not set
 * up. Every name costs a hash, so that timing does not reveal the registered providers (SIGNIN-3).
 */
async function byProvider(deps: Deps, name: string, attempt: Attempt): Promise<Verified | null> {
  const { db, passwords, providers, log } = deps;
  const redirecting = await findEnabledProvider(deps, name);
  if (redirecting !== null) throw refuse('identity-provider-redirects', { start: startPath(redirecting) });
  const provider = providers.get(name);
  if (provider === 'not set up') throw refuse('identity-provider-not-implemented');
  const asked = provider?.verify(attempt.username, attempt.password).catch((error: unknown) => {
    log.error({ err: error, provider: name }, 'the identity provider could not be asked');
    // Not the user's failure, so an outage locks no one out.
    return 'unavailable' as const;
  });
  const [identity] = await Promise.all([asked, passwords.verify(attempt.username, attempt.password, null)]);
  if (identity === 'unavailable') throw badCredentials();
  if (identity === undefined || identity === null) return null;
  if (await isLocked(db, attempt.username)) throw badCredentials();
  const ref = await accountOf(deps, name, identity);
  const account = ref === null ? undefined : await findAccount(db, sql`u.ref = ${ref}`);
  return account === undefined ? null : { ...account, outdated: false };
}

/**
 * SIGNIN-1: verifies, locks out, checks the second factor and starts a session. Ends the browser's previous session.
 */
export const signIn = handle(login, async (deps, { body, caller, http }) => {
  const { db } = deps;
  const { username, password, provider = '', totp_code = '', passkey = null } = body;
  const isBuiltIn = provider === '' || provider === 'password';
  const account = isBuiltIn
    ? await byPassword(deps, { username, password })
    : await byProvider(deps, provider, { username, password });
  if (account === null) {
    const method = isBuiltIn || !deps.providers.get(provider) ? 'password' : provider;
    await recordFailure(db, username, http.address, { method, userAgent: http.userAgent });
    throw badCredentials();
  }
  // A directory may accept several spellings of a name; codes are counted by the account's own name.
  const name = account.username;
  if ((await isLocked(db, username)) || (await isLocked(db, name))) throw badCredentials();
  // After the lock: hashing takes long, so that the response would reveal the right password of a locked name.
  if (account.outdated) await renewHash(deps, account, password);
  const given = { code: totp_code.trim(), passkey };
  const secondFactor = await checkSecondFactor(deps, account, given, http);
  await forgetFailures(db, name);
  const signedIn = { userRef: account.ref, provider: isBuiltIn ? 'password' : provider, secondFactor };
  const opened = await completeSignIn(deps, signedIn, caller, http);
  return { status: 200, body: opened.body, cookie: opened.cookie };
});
