import type { FastifyBaseLogger } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { CapabilityResolver } from '../access/capabilities.ts';
import type { Database } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';
import { findSession, touchSession } from './sessions.ts';

/** What a request shows of who is asking. */
export interface Credentials {
  cookieToken: string | null;
  authorization: string | undefined;
}

export interface Authenticated {
  caller: Caller;
  publicMode: boolean;
}

export interface Authentication {
  db: Database;
  capabilities: CapabilityResolver;
  sessionDays: number;
  log: FastifyBaseLogger;
}

/**
 * Who is asking. A bearer token wins over the cookie, and one that is not valid is 401 even beside a good cookie
 * (spec part 5); a cookie that no longer stands for a session is as good as none.
 */
export async function authenticate(auth: Authentication, credentials: Credentials): Promise<Authenticated> {
  if (credentials.authorization !== undefined) throw refuse(401, 'the bearer token is not valid');
  const row = await findSession(auth.db, credentials.cookieToken);
  const publicMode = row.public_mode;
  if (row.session_id === null || row.ref === null || row.username === null) {
    return { caller: { kind: 'anonymous' }, publicMode };
  }
  if (row.stale === true) await touchSession(auth.db, row.session_id, auth.sessionDays);
  const capabilities = await auth.capabilities
    .resolve(auth.db, row.ref, row.epoch)
    .catch((error: unknown) => {
      auth.log.error({ err: error }, 'capabilities could not be resolved');
      return null;
    });
  const caller: Caller = {
    kind: 'user',
    ref: row.ref,
    username: row.username,
    capabilities: capabilities ?? new Set(),
    capabilitiesStatus: capabilities === null ? 'unavailable' : 'resolved',
    authMethod: 'session',
    sessionId: row.session_id,
    impersonator:
      row.impersonator_ref === null || row.impersonator_username === null
        ? null
        : { ref: row.impersonator_ref, username: row.impersonator_username },
    showRestricted: row.preferences?.feed_filters?.show_restricted === true,
    seesMature: row.mature_allowed && row.preferences?.mature_content?.show === true,
  };
  return { caller, publicMode };
}
