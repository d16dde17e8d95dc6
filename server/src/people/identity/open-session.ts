import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { authenticate } from './authenticate.ts';
import { sessionUserOf } from './session-user.ts';
import { type SessionOrigin, startSession } from './sessions.ts';

/** Returns the caller of this session token; throws 401 when it is invalid. */
async function callerOfSession(deps: Deps, cookieToken: string): Promise<SignedIn> {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, hasReplica: false, log };
  const { caller } = await authenticate(auth, { cookieToken, bearer: null });
  if (caller.kind === 'anonymous') throw refuse('sign-in-required');
  return caller;
}

/** Starts a session and responds like the sign-in: session user and cookie. */
export async function openSession(deps: Deps, userRef: number, http: HttpFacts, origin?: SessionOrigin) {
  const { db, config } = deps;
  const cookie = await startSession(db, {
    userRef,
    days: config.sessionDays,
    address: http.address,
    userAgent: http.userAgent,
    ...(origin === undefined ? {} : { origin }),
  });
  await db.updateTable('users').set({ last_seen_at: sql`now()` }).where('ref', '=', userRef).execute();
  const caller = await callerOfSession(deps, cookie.token);
  return {
    caller,
    body: sessionUserOf(caller),
    cookie,
  };
}
