import type { FastifyBaseLogger } from 'fastify';
import { type Caller, viewingPreferences } from '../../access/caller.ts';
import type { Capabilities, CapabilityResolver } from '../../access/capabilities.ts';
import { mayStillImpersonate } from '../../access/impersonation.ts';
import type { Database } from '../../platform/database/pool.ts';
import { DatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { Refusal, refuse } from '../../platform/http/refuse.ts';
import { isOutOfRoom } from '../../platform/storage/room.ts';
import { findAccessToken, touchAccessToken } from './access-tokens.ts';
import type { CredentialRow } from './credential.ts';
import { findSession, touchSession } from './sessions.ts';

/** The credentials of a request. */
export interface Credentials {
  cookieToken: string | null;
  /** The token after `Bearer`; null without such a header. */
  bearer: string | null;
}

export interface Authenticated {
  caller: Caller;
  publicMode: boolean;
  /** The position that a replica must have replayed to serve this caller; null if any replica may. */
  lastWrite: string | null;
  /** How long the renewed cookie of an extended session is valid, in seconds; null if it was not extended. */
  renewedForSeconds: number | null;
}

export interface Authentication {
  db: Database;
  capabilities: CapabilityResolver;
  sessionDays: number;
  /** Whether the last write is read with the credential. */
  hasReplica: boolean;
  log: FastifyBaseLogger;
}

/** The 401 for a session of an account that is not active; the response also clears the cookie (SESSION-5). */
export class InactiveAccount extends Refusal {
  constructor() {
    super('account-not-active');
  }
}

const none: Capabilities = { everywhere: new Set(), inTeams: new Map() };

/** Returns the bearer token of an `Authorization` header, or null. Other schemes are meant for a proxy. */
export function bearerOf(authorization: string | undefined): string | null {
  return (
    /^Bearer(?:\s+(.*))?$/is
      .exec(authorization ?? '')
      ?.map((part) => part ?? '')[1]
      ?.trim() ?? null
  );
}

async function findCredential(
  { db, hasReplica }: Authentication,
  { bearer, cookieToken }: Credentials,
): Promise<CredentialRow> {
  if (bearer === null) return findSession(db, cookieToken, hasReplica);
  const row = await findAccessToken(db, bearer, hasReplica);
  if (row === null) throw refuse('bearer-token-invalid');
  return row;
}

/**
 * Records the use of a credential; on a full disk it is not recorded, so that reads continue (RUN-7). Returns how long an
 * extended session is valid, in seconds.
 */
async function touch({ db, sessionDays }: Authentication, row: CredentialRow): Promise<number | null> {
  if (!row.stale) return null;
  try {
    if (row.token_id !== null) await touchAccessToken(db, row.token_id);
    else if (row.session_id !== null) return await touchSession(db, row.session_id, sessionDays);
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
  }
  return null;
}

/** Returns whether this impersonation is still valid: not expired, and allowed by both accounts' current rights. */
async function stillImpersonates(
  auth: Authentication,
  row: CredentialRow,
  target: Capabilities | null,
): Promise<boolean> {
  if (row.expired || row.impersonator_ref === null || target === null) return false;
  const admin = await auth.capabilities.resolve(auth.db, row.impersonator_ref, row.epoch);
  return mayStillImpersonate(admin, target);
}

/**
 * Resolves the caller. A bearer token takes precedence over the cookie, and an invalid one is 401 even beside a valid
 * cookie (TOKEN-6); a cookie without a session counts as absent. An expired impersonation is 401, so that the
 * administrator does not continue anonymously without noticing (IMPERSONATION-6), and so is a session of an account
 * that is not active (SESSION-5). `inspect` gets the row first and may throw.
 */
export async function authenticate(
  auth: Authentication,
  credentials: Credentials,
  inspect: (row: CredentialRow) => void = () => {},
): Promise<Authenticated> {
  return resolveCaller(auth, await findCredential(auth, credentials), inspect);
}

/** `authenticate` for a credential that has been read just now. */
export async function resolveCaller(
  auth: Authentication,
  row: CredentialRow,
  inspect: (row: CredentialRow) => void,
): Promise<Authenticated> {
  inspect(row);
  const publicMode = row.public_mode;
  const lastWrite = row.last_write ?? null;
  if (row.impersonation && (row.expired || row.ref === null)) throw refuse('impersonation-ended');
  if (row.session_id !== null && row.ref === null) throw new InactiveAccount();
  if (row.ref === null || row.username === null)
    return { caller: { kind: 'anonymous' }, publicMode, lastWrite, renewedForSeconds: null };
  const renewedForSeconds = await touch(auth, row);
  const resolved = await auth.capabilities.resolve(auth.db, row.ref, row.epoch).catch((error: unknown) => {
    // Nothing else would work either: respond with 503 instead of treating the caller as one without rights.
    if (error instanceof DatabaseUnavailable) throw error;
    auth.log.error({ err: error }, 'capabilities could not be resolved');
    return null;
  });
  if (row.impersonation && !(await stillImpersonates(auth, row, resolved))) {
    throw refuse('impersonation-ended');
  }
  const { everywhere, inTeams } = resolved ?? none;
  const caller: Caller = {
    kind: 'user',
    ref: row.ref,
    username: row.username,
    capabilities: everywhere,
    teamCapabilities: inTeams,
    capabilitiesStatus: resolved === null ? 'unavailable' : 'resolved',
    authMethod: row.token_id === null ? 'session' : 'token',
    sessionId: row.session_id,
    token: row.token_id === null ? null : { id: row.token_id, scopes: row.scopes ?? [] },
    impersonator:
      row.impersonator_ref === null || row.impersonator_username === null
        ? null
        : { ref: row.impersonator_ref, username: row.impersonator_username },
    // An administrator who acts as the account has passed their own second factor.
    ...(row.lacks_second_factor && row.session_id !== null && !row.impersonation
      ? { requiredStep: 'second_factor' }
      : {}),
    ...viewingPreferences(row),
  };
  return {
    caller,
    publicMode,
    lastWrite,
    renewedForSeconds,
  };
}
