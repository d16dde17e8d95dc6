import type { PostAuthor } from '@vitrine/contract/identity';
import type { ResourceRequest } from '@vitrine/contract/requests';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import { decidableRequests, mayDecideNow } from '../../access/requests.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';

interface RequestRow
  extends Columns<
    'resource_requests',
    | 'id'
    | 'requester_user_ref'
    | 'target_kind'
    | 'target_id'
    | 'requested_capability'
    | 'reason'
    | 'state'
    | 'requested_at'
    | 'decided_at'
    | 'decided_by_user_ref'
    | 'decision_reason'
  > {
  requester: PostAuthor | null;
  grant_expires_at: string | null;
  decidable?: boolean;
}

function show(row: RequestRow): ResourceRequest {
  return {
    id: row.id,
    requester_user_ref: row.requester_user_ref,
    ...(row.requester === null ? {} : { requester: row.requester }),
    target_kind: row.target_kind,
    target_id: row.target_id,
    requested_capability: row.requested_capability,
    ...(row.reason === null ? {} : { reason: row.reason }),
    state: row.state,
    requested_at: row.requested_at,
    ...(row.decided_at === null ? {} : { decided_at: row.decided_at }),
    ...(row.decided_by_user_ref === null ? {} : { decided_by_user_ref: row.decided_by_user_ref }),
    ...(row.decision_reason === null ? {} : { decision_reason: row.decision_reason }),
    ...(row.decidable === undefined ? {} : { decidable_by_caller: row.decidable }),
    grant_expires_at: row.grant_expires_at,
  };
}

/**
 * Returns requests that meet a condition on `resource_requests q` (REQUEST-16). `onQueue` adds whether the caller may
 * decide each of them now: only pending ones can be decided.
 */
export async function showRequests(
  db: Database,
  caller: SignedIn,
  which: RawBuilder<boolean>,
  { rest = sql``, onQueue = false }: { rest?: RawBuilder<unknown>; onQueue?: boolean } = {},
): Promise<ResourceRequest[]> {
  const decidable = onQueue
    ? sql`, (q.state = 'pending' and ${mayDecideNow(caller)} and ${decidableRequests(caller)}) as decidable`
    : sql``;
  const { rows } = await sql<RequestRow>`
    select q.id, q.requester_user_ref, ${identityJson(caller, 'u')} as requester, q.target_kind, q.target_id,
      q.requested_capability, q.reason, q.state, q.requested_at, q.decided_at, q.decided_by_user_ref,
      q.decision_reason, coalesce(g.expires_at, q.grant_ended_at) as grant_expires_at ${decidable}
    from resource_requests q left join users u on u.ref = q.requester_user_ref
      left join user_capability_grants g on g.request_ref = q.id
    where ${which} ${rest}`.execute(db);
  return rows.map(show);
}
