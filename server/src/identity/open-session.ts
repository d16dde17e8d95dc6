import { sql } from 'kysely';
import type { SignedIn } from '../access/caller.ts';
import type { Deps } from '../deps.ts';
import type { HttpFacts } from '../platform/http/bind.ts';
import { refuse } from '../platform/http/refuse.ts';
import { authenticate } from './authenticate.ts';
import { sessionUserOf } from './session-user.ts';
import { startSession } from './sessions.ts';

/** Whoever this session token stands for; 401 when that is nobody. */
async function callerBehind(deps: Deps, cookieToken: string): Promise<SignedIn> {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, log };
  const { caller } = await authenticate(auth, { cookieToken, bearer: null });
  if (caller.kind === 'anonymous') throw refuse(401, 'sign in first');
  return caller;
}

/** Starts a session for an account and answers as the sign-in does: the session user and the cookie. */
export async function openSession(deps: Deps, userRef: number, http: HttpFacts) {
  const { db, config } = deps;
  const token = await startSession(db, {
    userRef,
    days: config.sessionDays,
    address: http.address,
    userAgent: http.userAgent,
  });
  await db.updateTable('users').set({ last_seen_at: sql`now()` }).where('ref', '=', userRef).execute();
  const caller = await callerBehind(deps, token);
  return {
    caller,
    body: sessionUserOf(caller),
    cookie: { token, maxAgeSeconds: config.sessionDays * 86_400 },
  };
}
