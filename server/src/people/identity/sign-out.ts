import { logout } from '@vitrine/contract/identity';
import { handle } from '../../core/handle.ts';
import { recordEvent } from '../audit/record.ts';
import { endSession } from './sessions.ts';

export const signOut = handle(logout, async ({ db }, { caller }) => {
  await db.transaction().execute(async (tx) => {
    if (caller.sessionId !== null) await endSession(tx, caller.sessionId);
    await recordEvent(tx, caller, { event: 'auth.signed_out', subjectUserRef: caller.ref });
  });
  return {
    status: 204,
    cookie: { token: null, maxAgeSeconds: 0 },
    // Browsers cache previews permanently, and must not show them to the next user of the computer.
    headers: { 'clear-site-data': '"cache"' },
  };
});
