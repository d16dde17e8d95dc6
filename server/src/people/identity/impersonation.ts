import { endImpersonation, impersonate } from '@vitrine/contract/impersonation';
import { loadCapabilities } from '../../access/capabilities.ts';
import { checkMayBeImpersonated, checkMayImpersonate } from '../../access/impersonation.ts';
import { activeAccount } from '../../access/live.ts';
import { handle } from '../../core/handle.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { endSession, originOf, startImpersonation, startSession } from './sessions.ts';

/** IMPERSONATION-1: starts a session of the target, attributed to the administrator, whose own session continues. */
export const start = handle(impersonate, async ({ db, config }, { caller, params, body, http }) => {
  checkMayImpersonate(caller, params.ref);
  const target = await db
    .selectFrom('users')
    .select(['ref', 'username'])
    .where('ref', '=', params.ref)
    .where(activeAccount('users'))
    .executeTakeFirst();
  if (target === undefined) throw notFound();
  checkMayBeImpersonated(await loadCapabilities(db, target.ref));
  const session = await db.transaction().execute(async (tx) => {
    const started = await startImpersonation(tx, {
      userRef: target.ref,
      impersonatorRef: caller.ref,
      minutes: config.impersonationMinutes,
      address: http.address,
      userAgent: http.userAgent,
      ...(await originOf(tx, caller.sessionId)),
    });
    await recordEvent(tx, caller, {
      event: 'admin.impersonation.started',
      subjectUserRef: target.ref,
      metadata: { session_id: started.id, reason: body?.reason ?? null },
    });
    return started;
  });
  return {
    status: 200,
    body: {
      session_id: session.id,
      target_user_ref: target.ref,
      target_username: target.username,
      expires_at: session.expiresAt,
    },
    // The cookie outlives the session slightly, so that the browser learns of the expiry.
    cookie: { token: session.token, maxAgeSeconds: config.impersonationMinutes * 60 + 86_400 },
  };
});

/** Ends the session and gives the administrator a fresh one of their own (IMPERSONATION-8). */
export const end = handle(endImpersonation, async ({ db, config }, { caller, http }) => {
  const { impersonator, sessionId } = caller;
  if (impersonator === null || sessionId === null) throw refuse('not-impersonating');
  const cookie = await db.transaction().execute(async (tx) => {
    const origin = await originOf(tx, sessionId);
    // Of concurrent calls, one ends the session and gets the administrator's session.
    if (!(await endSession(tx, sessionId))) throw refuse('impersonation-ended');
    await recordEvent(tx, null, {
      event: 'admin.impersonation.ended',
      actorUserRef: impersonator.ref,
      subjectUserRef: caller.ref,
      metadata: { session_id: sessionId, impersonated_by: impersonator },
    });
    return startSession(tx, {
      userRef: impersonator.ref,
      days: config.sessionDays,
      address: http.address,
      userAgent: http.userAgent,
      ...origin,
    });
  });
  return {
    status: 200,
    body: { admin_user_ref: impersonator.ref, admin_username: impersonator.username },
    cookie,
  };
});
