import type { Capability, TokenScope } from '@vitrine/contract/capabilities';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { Secret, TOTP } from 'otpauth';
import { newAccessToken } from '../../src/people/identity/access-tokens.ts';
import { keyOfEmail } from '../../src/people/identity/email-keys.ts';
import { hashToken, startSession } from '../../src/people/identity/sessions.ts';
import { type Answered, type Visitor, visit } from './client.ts';
import { type Account, type Library, password } from './library.ts';

/** An id that no object has. */
export const nowhere = '00000000-0000-4000-8000-00000000dead';

/** Adds rows with these capabilities of an account to a table. */
const addTo =
  (table: 'user_capability_grants' | 'user_capability_revokes') =>
  async (
    { deps: { db } }: Library,
    { ref }: Pick<Account, 'ref'>,
    given: Capability | readonly Capability[],
    team_id: string | null = null,
  ): Promise<void> => {
    const codes = typeof given === 'string' ? [given] : given;
    const rows = codes.map((capability) => ({ user_ref: ref, capability, team_id }));
    await db.insertInto(table).values(rows).execute();
  };

/** Grants capabilities to an account: everywhere, or in one team and the teams below it. */
export const grant = addTo('user_capability_grants');

/** Grants a capability to an account for an hour, which does not count for ROLE-11. */
export async function grantForAnHour(
  { deps: { db } }: Library,
  { ref }: Pick<Account, 'ref'>,
  capability: Capability,
): Promise<void> {
  const expires_at = sql<string>`now() + interval '1 hour'`;
  await db.insertInto('user_capability_grants').values({ user_ref: ref, capability, expires_at }).execute();
}

/** Revokes capabilities of an account: everywhere, or in one team and the teams below it. */
export const revoke = addTo('user_capability_revokes');

/** Withdraws all direct grants of an account. */
export async function withdrawGrants(
  { deps: { db } }: Library,
  { ref }: Pick<Account, 'ref'>,
): Promise<void> {
  await db.deleteFrom('user_capability_grants').where('user_ref', '=', ref).execute();
}

/** Gives an account another status. */
export async function setStatus(
  { deps: { db } }: Library,
  { ref }: Pick<Account, 'ref'>,
  status: 'active' | 'pending' | 'disabled' | 'archived',
): Promise<void> {
  await db.updateTable('users').set({ status }).where('ref', '=', ref).execute();
}

/** Creates a member with this text as its password hash, without a session. Returns the ref. */
export async function addAccount(
  { deps: { db } }: Library,
  username: string,
  password_hash: string | null = null,
): Promise<number> {
  const { ref } = await db
    .insertInto('users')
    .values((eb) => ({
      username,
      username_key: foldName(username),
      password_hash,
      role_id: eb.selectFrom('roles').select('id').where('code', '=', 'member').$asScalar(),
    }))
    .returning('ref')
    .executeTakeFirstOrThrow();
  return ref;
}

/** Gives an account another role. */
export async function setRole(
  { deps: { db } }: Library,
  { ref }: Pick<Account, 'ref'>,
  code: string,
): Promise<void> {
  await db
    .updateTable('users')
    .set((eb) => ({ role_id: eb.selectFrom('roles').select('id').where('code', '=', code).$asScalar() }))
    .where('ref', '=', ref)
    .execute();
}

/** Gives an account an e-mail, as an administrator may without asking for a confirmation. */
export async function setEmail(
  { deps: { db } }: Library,
  { ref }: Pick<Account, 'ref'>,
  email: string,
): Promise<void> {
  await db
    .updateTable('users')
    .set({ email, email_key: keyOfEmail(email) })
    .where('ref', '=', ref)
    .execute();
}

/** Another browser in which the account is signed in. */
export async function anotherSession(
  { address, deps: { db, config } }: Library,
  { ref }: Pick<Account, 'ref'>,
  userAgent = 'test',
): Promise<Visitor> {
  const start = { userRef: ref, days: config.sessionDays, address: '127.0.0.1', userAgent };
  return visit(address, {}, (await startSession(db, start)).token);
}

/** The account behind an access token with these scopes. */
export async function bearer(
  { address, deps: { db } }: Library,
  { ref }: Pick<Account, 'ref'>,
  scopes: readonly TokenScope[],
): Promise<Visitor> {
  const token = newAccessToken();
  const row = { user_ref: ref, name: 'script', token_hash: hashToken(token), scopes: [...scopes] };
  await db.insertInto('access_tokens').values(row).execute();
  return visit(address, { authorization: `Bearer ${token}` });
}

/** Another browser of an administrator, in which they impersonate the target. */
export async function actAs(
  { address }: Pick<Library, 'address'>,
  admin: Visitor,
  target: Pick<Account, 'ref'>,
): Promise<Visitor> {
  const browser = visit(address, {}, admin.cookie());
  await browser.ok('impersonate', { params: { ref: target.ref }, body: undefined });
  return browser;
}

/** Attempts to sign in from a new browser. */
export function signIn(
  { address }: Pick<Library, 'address'>,
  username: string,
  given: string = password,
  totp_code?: string,
): Promise<Answered> {
  const body = { username, password: given, ...(totp_code === undefined ? {} : { totp_code }) };
  return visit(address).send('/auth/login', { method: 'POST', body });
}

/** The password hash in the database, null for an account without a password. */
export async function storedHashOf({ deps: { db } }: Library, username: string): Promise<string | null> {
  const row = await db
    .selectFrom('users')
    .select('password_hash')
    .where('username', '=', username)
    .executeTakeFirstOrThrow();
  return row.password_hash;
}

/** Returns the id of the session in which this browser is signed in. */
export async function sessionIdOf(visitor: Visitor): Promise<string> {
  const session = (await visitor.ok('listSessions')).items.find(({ current }) => current);
  if (session === undefined) throw new Error('no session is the current one');
  return session.id;
}

/** Returns the code that an authenticator app shows for this secret at this time. */
export function totpCode(secret: string, timestamp = Date.now()): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  return totp.generate({ timestamp });
}
