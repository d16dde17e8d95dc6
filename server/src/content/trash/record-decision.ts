import type { ResourceRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { RESTORE_MARKER } from '../../access/requests.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';

/** A pending request, read under its lock. */
export type PendingRequest = Columns<
  'resource_requests',
  'id' | 'requester_user_ref' | 'requested_capability'
>;

/** Records the decision on a request, and notifies the requester (REQUEST-13). */
export async function recordDecision(
  tx: Tx,
  caller: SignedIn,
  { id, requester_user_ref, requested_capability }: PendingRequest,
  decision: 'granted' | 'denied',
  reason: string | null,
): Promise<void> {
  await sql`update resource_requests set state = ${decision}, decided_at = now(),
    decided_by_user_ref = ${caller.ref}, decision_reason = ${reason} where id = ${id}`.execute(tx);
  await recordEvent(tx, caller, {
    event: `request.${decision}`,
    subjectUserRef: requester_user_ref,
    metadata: { request_id: id, capability: requested_capability },
  });
  await announce(tx, { what: 'decision', request: id, actor: caller.ref });
}

/** Locks the pending restore requests of a thing, before the thing itself, as deciding one of them does. */
export async function lockRestoreRequests(
  tx: Tx,
  kind: ResourceRequest['target_kind'],
  targetId: string,
): Promise<PendingRequest[]> {
  const { rows } = await sql<PendingRequest>`
    select q.id, q.requester_user_ref, q.requested_capability from resource_requests q
    where q.target_kind = ${kind} and q.target_id = ${targetId}
      and q.requested_capability = ${RESTORE_MARKER} and q.state = 'pending'
    order by q.id for update of q`.execute(tx);
  return rows;
}
