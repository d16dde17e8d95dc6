import { streamEvents } from '@vitrine/contract/notifications';
import { handle } from '../handle.ts';
import { authenticate, bearerOf } from '../identity/authenticate.ts';
import type { StreamState } from '../platform/http/event-streams.ts';
import { countUnread } from './list.ts';

/**
 * The caller's live stream. Each look asks anew who the credential stands for, so that a session that ended or an
 * account that was disabled hears no more; each begins with how things stand, so that coming again misses nothing.
 */
export const events = handle(streamEvents, async (deps, { caller, http }) => {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, log };
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
      // For a proxy in front that would wait for the end.
      'x-accel-buffering': 'no',
    },
  };
});
