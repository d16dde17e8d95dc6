import type { Caller } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { recordEvent } from '../audit/record.ts';
import { openSession } from './open-session.ts';
import { endSession, type SessionOrigin } from './sessions.ts';

interface CompletedSignIn {
  userRef: number;
  /** The name of the way: `password`, `passkey`, `ldap` or that of a provider. */
  provider: string;
  secondFactor: boolean;
  /** Of a sign-in by redirect. */
  origin?: SessionOrigin;
}

/** Opens the session of an account that has signed in, ends the browser's previous one (SIGNIN-13), and records it. */
export async function completeSignIn(
  deps: Deps,
  { userRef, provider, secondFactor, origin }: CompletedSignIn,
  caller: Caller,
  http: HttpFacts,
) {
  if (caller.kind === 'user' && caller.sessionId !== null) await endSession(deps.db, caller.sessionId);
  const opened = await openSession(deps, userRef, http, origin);
  await deps.db.transaction().execute((tx) =>
    recordEvent(tx, opened.caller, {
      event: 'auth.signed_in',
      subjectUserRef: userRef,
      metadata: {
        provider,
        two_factor: secondFactor,
        address: http.address,
        user_agent: http.userAgent,
      },
    }),
  );
  return opened;
}
