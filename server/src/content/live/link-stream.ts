import { streamLinkEvents } from '@vitrine/contract/guests';
import { checkReadsFeedback } from '../../access/guests.ts';
import { handle } from '../../core/handle.ts';
import type { ReadStreamState } from '../../platform/http/event-streams.ts';
import { visitLink } from '../links/visit.ts';
import { followLink } from './follow-link.ts';
import { eventHeaders, openOrEnd } from './open.ts';

/**
 * `GET /links/{token}/events`. Each event and heartbeat visits the link again, so that the stream ends with the link, its
 * feedback, its address and its password (GUEST-13).
 */
export const events = handle(streamLinkEvents, async (deps, { params, http }) => {
  const resolve = async () => {
    const { visitor } = await visitLink(deps, params.token, http);
    checkReadsFeedback(visitor);
    return visitor;
  };
  const look: ReadStreamState = async (hasMessages) => {
    // Reading a message visits the link.
    if (!hasMessages) await resolve();
    return 'nothing';
  };
  const topic = await followLink(deps.db, await resolve(), resolve);
  return {
    status: 200,
    body: await openOrEnd(topic, () => http.openEvents(null, look, topic)),
    headers: eventHeaders,
  };
});
