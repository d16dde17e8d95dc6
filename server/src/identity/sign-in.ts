import { login } from '@vitrine/contract/identity';
import { sql } from 'kysely';
import { openCapabilities } from '../access/capabilities.ts';
import type { Deps } from '../deps.ts';
import type { Database } from '../platform/database/pool.ts';
import { type HttpFacts, handle } from '../platform/http/bind.ts';
import { refuse } from '../platform/http/refuse.ts';
import { authenticate } from './authenticate.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { showSessionUser } from './session-user.ts';
import { endSession, startSession } from './sessions.ts';

/** One text for every way to fail, so that neither accounts nor providers can be told apart (spec 4.1). */
function badCredentials() {
  return refuse(401, 'wrong username or password');
}

interface Account {
  ref: number;
  username: string;
  password_hash: string | null;
}

async function findAccount(db: Database, username: string): Promise<Account | undefined> {
  return db
    .selectFrom('users')
    .select(['ref', 'username', 'password_hash'])
    .where(sql<boolean>`lower(username) = lower(${username})`)
    .where('status', '=', 'active')
    .executeTakeFirst();
}

/** Starts a session for an account and answers as the sign-in does: the session user and the cookie. */
export async function openSession(deps: Deps, userRef: number, http: HttpFacts) {
  const { db, config, log } = deps;
  const token = await startSession(db, {
    userRef,
    days: config.sessionDays,
    address: http.address,
    userAgent: http.userAgent,
  });
  const authentication = { db, capabilities: openCapabilities(1), sessionDays: config.sessionDays, log };
  const { caller } = await authenticate(authentication, { cookieToken: token, authorization: undefined });
  if (caller.kind === 'anonymous') throw badCredentials();
  return {
    body: await showSessionUser(db, caller),
    cookie: { token, maxAgeSeconds: config.sessionDays * 86_400 },
  };
}

/** spec 4.1: verify, re-hash an older form, start a session. A session the browser had before ends. */
export const signIn = handle(login, async (deps, { body, caller, http }) => {
  const { db, scrambleKey } = deps;
  const isBuiltIn = body.provider === undefined || body.provider === '' || body.provider === 'password';
  const account = await findAccount(db, body.username);
  const stored = isBuiltIn ? (account?.password_hash ?? null) : null;
  const username = account?.username ?? body.username;
  const { matches, outdated } = await verifyPassword(scrambleKey, username, body.password, stored);
  if (account === undefined || !matches) throw badCredentials();
  if (outdated) {
    const fresh = await hashPassword(scrambleKey, account.username, body.password);
    await db
      .updateTable('users')
      .set({ password_hash: fresh })
      .where('ref', '=', account.ref)
      .where('password_hash', '=', stored)
      .execute();
  }
  if (caller.kind === 'user') await endSession(db, caller.sessionId);
  return { status: 200, ...(await openSession(deps, account.ref, http)) };
});
