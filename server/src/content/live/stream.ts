import { streamEvents } from '@vitrine/contract/notifications';
import { checkDiscussed } from '../../access/annotations.ts';
import { handle } from '../../core/handle.ts';
import { authenticate, bearerOf } from '../../people/identity/authenticate.ts';
import { countUnread } from '../../people/notifications/list.ts';
import type { StreamState } from '../../platform/http/event-streams.ts';
import { lookAtPost } from './look-at-post.ts';

/**
 * Opens the caller's live stream. Each read resolves the credential again, so that the stream ends with the session or
 * the account. The first event is the current state, so that reconnecting misses nothing.
 */
export const events = handle(streamEvents, async (deps, { caller, query, http }) => {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, hasReplica: false, log };
  const credentials = { cookieToken: http.cookieToken, bearer: bearerOf(http.header('authorization')) };
  const resolve = async () => {
    const { caller: now } = await authenticate(auth, credentials);
    return now.kind === 'anonymous' || now.ref !== caller.ref ? null : now;
  };
  const look = async (): Promise<StreamState | null> => {
    const now = await resolve();
    if (now === null) return null;
    const { count, newest } = await countUnread(db, now);
    return { event: 'notification', data: { unread_count: count }, version: `${count} ${newest}` };
  };
  if (query.post !== undefined) await checkDiscussed(db, caller, query.post);
  const topic = query.post === undefined ? undefined : await lookAtPost(db, caller, query.post, resolve);
  return {
    status: 200,
    body: http.openEvents(caller.ref, look, topic),
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Keeps a proxy from buffering the response.
      'x-accel-buffering': 'no',
    },
  };
});
