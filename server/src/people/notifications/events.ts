import { streamEvents } from '@vitrine/contract/notifications';
import { handle } from '../../core/handle.ts';
import type { StreamState } from '../../platform/http/event-streams.ts';
import { authenticate, bearerOf } from '../identity/authenticate.ts';
import { countUnread } from './list.ts';

/**
 * Opens the caller's live stream. Each read resolves the credential again, so that the stream ends with the session or
 * the account. The first event is the current state, so that reconnecting misses nothing.
 */
export const events = handle(streamEvents, async (deps, { caller, http }) => {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, hasReplica: false, log };
  const credentials = { cookieToken: http.cookieToken, bearer: bearerOf(http.header('authorization')) };
  const look = async (): Promise<StreamState | null> => {
    const { caller: now } = await authenticate(auth, credentials);
    if (now.kind === 'anonymous' || now.ref !== caller.ref) return null;
    const { count, newest } = await countUnread(db, now);
    return { event: 'notification', data: { unread_count: count }, version: `${count} ${newest}` };
  };
  return {
    status: 200,
    body: http.openEvents(caller.ref, look),
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Keeps a proxy from buffering the response.
      'x-accel-buffering': 'no',
    },
  };
});
