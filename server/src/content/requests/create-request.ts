import type { ResourceRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { showRequests } from './show.ts';

export interface RequestDraft {
  kind: ResourceRequest['target_kind'];
  id: string;
  capability: string;
  reason: string | null;
}

/**
 * Creates a request, or finds the pending one for the same triple (REQUEST-4). Concurrent calls create one request;
 * `created` tells whether this call did.
 */
export async function createRequest(
  tx: Tx,
  caller: SignedIn,
  { kind, id, capability, reason }: RequestDraft,
): Promise<{ created: boolean; request: ResourceRequest }> {
  const same = sql<boolean>`q.requester_user_ref = ${caller.ref} and q.target_kind = ${kind}
    and q.target_id = ${id} and q.requested_capability = ${capability} and q.state = 'pending'`;
  const { rows } = await sql<{ id: string; created: boolean }>`
    insert into resource_requests (requester_user_ref, target_kind, target_id, requested_capability, reason)
    values (${caller.ref}, ${kind}, ${id}, ${capability}, ${reason})
    on conflict (requester_user_ref, target_kind, target_id, requested_capability) where state = 'pending'
      do update set state = 'pending'
    returning id, xmax = 0 as created`.execute(tx);
  const created = rows.some((row) => row.created);
  const [request] = await showRequests(tx, caller, same);
  if (request === undefined) throw new Error('the created request does not exist');
  if (created) {
    await announce(tx, { what: 'request', request: request.id, actor: caller.ref });
    await recordEvent(tx, caller, {
      event: 'request.created',
      subjectUserRef: caller.ref,
      target: { kind, id },
      metadata: { request_id: request.id, capability },
    });
  }
  return { created, request };
}
