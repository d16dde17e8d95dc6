import { streamEvents } from '@vitrine/contract/notifications';
import { checkFollowed, mayDiscuss } from '../../access/annotations.ts';
import { staysAdmitted } from '../../access/door.ts';
import { handle } from '../../core/handle.ts';
import { authenticate, bearerOf } from '../../people/identity/authenticate.ts';
import { countUnread } from '../../people/notifications/list.ts';
import type { ReadStreamState } from '../../platform/http/event-streams.ts';
import { lookAtPost } from './look-at-post.ts';
import { eventHeaders, openOrEnd } from './open.ts';

/**
 * Opens the caller's live stream. Each read resolves the credential again, so that the stream ends with the session or
 * the account, and that of a visitor when public mode ends or the post is no longer public (ANNOTATION-22). The first event is
 * the current state, so that reconnecting misses nothing.
 */
export const events = handle(streamEvents, async (deps, { caller, query: { post }, http }) => {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, hasReplica: false, log };
  const credentials = { cookieToken: http.cookieToken, bearer: bearerOf(http.header('authorization')) };
  const resolve = async () => {
    const { caller: now, publicMode } = await authenticate(auth, credentials);
    return staysAdmitted(caller, now, publicMode) ? now : null;
  };
  const look: ReadStreamState = async () => {
    const now = await resolve();
    if (now === null) return null;
    if (now.kind === 'anonymous')
      return post !== undefined && (await mayDiscuss(db, now, post)) ? 'nothing' : null;
    const { count, newest } = await countUnread(db, now);
    return { event: 'notification', data: { unread_count: count }, version: `${count} ${newest}` };
  };
  await checkFollowed(db, caller, post);
  const topic = post === undefined ? undefined : await lookAtPost(db, caller, post, resolve);
  return {
    status: 200,
    body: await openOrEnd(topic, () =>
      http.openEvents(caller.kind === 'anonymous' ? null : caller.ref, look, topic),
    ),
    headers: eventHeaders,
  };
});
