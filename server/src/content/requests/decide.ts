import { decideRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { decidableRequests, RESTORE_MARKER, seesEveryRequest } from '../../access/requests.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { checkInFuture } from '../../platform/http/moments.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type PendingRequest, recordDecision } from '../trash/record-decision.ts';
import { restoreThing } from '../trash/restore.ts';
import { showRequests } from './show.ts';

interface Pending
  extends PendingRequest,
    Columns<'resource_requests', 'target_kind' | 'target_id' | 'state'> {
  decidable: boolean;
}

/**
 * Locks a request. 403 when the caller may not decide it, also for an unknown request unless they see all of them
 * (REQUEST-9); 409 when the request has already been decided.
 */
async function lockPending(tx: Tx, caller: SignedIn, id: string): Promise<Pending> {
  const { rows } = await sql<Pending>`
    select q.id, q.requester_user_ref, q.target_kind, q.target_id, q.requested_capability, q.state,
      (${decidableRequests(caller)} or q.decided_by_user_ref is not distinct from ${caller.ref}) as decidable
    from resource_requests q where q.id = ${id} for update of q`.execute(tx);
  const row = rows[0];
  if (row === undefined && seesEveryRequest(caller)) throw notFound();
  if (row === undefined || !row.decidable) throw refuse('request-not-yours');
  if (row.state !== 'pending') throw refuse('request-already-decided');
  return row;
}

/** REQUEST-14: ends grants at their time, not only at the interval of the job. Grants that end together share one job. */
async function expireAt(tx: Tx, expiresAt: string | null): Promise<void> {
  if (expiresAt === null) return;
  const at = new Date(expiresAt).toISOString();
  await enqueue(tx, 'expire', {}, { key: `expire:${at}`, runAt: at });
}

/**
 * REQUEST-10, REQUEST-12: creates a grant that names the request; a restore marker restores the thing and creates no
 * grant.
 */
async function carryOut(tx: Tx, caller: SignedIn, request: Pending, expiresAt: string | null): Promise<void> {
  if (request.requested_capability === RESTORE_MARKER) {
    await restoreThing(tx, caller, request.target_kind, request.target_id);
    return;
  }
  await tx
    .insertInto('user_capability_grants')
    .values({
      user_ref: request.requester_user_ref,
      capability: request.requested_capability,
      granted_by_user_ref: caller.ref,
      expires_at: expiresAt,
      request_ref: request.id,
    })
    .execute();
  await expireAt(tx, expiresAt);
}

/** REQUEST-13: a pending request is granted or denied once, together with its consequences. */
export const decide = handle(decideRequest, async ({ db }, { caller, params, body }) => {
  const expiresAt = body.expires_at ?? null;
  const decided = await db.transaction().execute(async (tx) => {
    const request = await lockPending(tx, caller, params.id);
    checkInFuture('expires_at', expiresAt);
    if (expiresAt !== null && request.requested_capability === RESTORE_MARKER) {
      throw refuse('restore-does-not-expire');
    }
    if (body.decision === 'granted') await carryOut(tx, caller, request, expiresAt);
    await recordDecision(tx, caller, request, body.decision, body.reason ?? null);
    const [shown] = await showRequests(tx, caller, sql`q.id = ${params.id}`);
    if (shown === undefined) throw new Error('the decided request no longer exists');
    return shown;
  });
  return { status: 200, body: decided };
});
