import { logout } from '@vitrine/contract/identity';
import { handle } from '../platform/http/bind.ts';
import { endSession } from './sessions.ts';

export const signOut = handle(logout, async ({ db }, { caller }) => {
  await endSession(db, caller.sessionId);
  return { status: 204, cookie: { token: null, maxAgeSeconds: 0 } };
});
