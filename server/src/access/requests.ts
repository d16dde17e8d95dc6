import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import { type Caller, holds } from './caller.ts';
import { holdersOf } from './capabilities.ts';
import { activeAccount } from './live.ts';

/** Who decides which request (REQUEST-6). The expressions refer to `resource_requests q`. */
type Predicate = RawBuilder<boolean>;

/** The marker codes set the type of a request and grant nothing. */
export const ACCESS_MARKER = 'content.access.request';
export const RESTORE_MARKER = 'content.restore.request';

/** The caller owns the requested asset. */
function ownsTarget(callerRef: number): Predicate {
  return sql`(q.target_kind = 'asset' and exists (
    select from assets a where a.id = q.target_id and a.owner_user_ref = ${callerRef}))`;
}

/** The caller deleted what the request asks to restore. */
function deletedTarget(callerRef: number): Predicate {
  return sql`(case q.target_kind
    when 'asset' then exists (select from assets a where a.id = q.target_id and a.deleted_at is not null
      and a.deleted_by_user_ref = ${callerRef})
    when 'post' then exists (select from posts p where p.id = q.target_id and p.deleted_at is not null
      and p.deleted_by_user_ref = ${callerRef})
    when 'collection' then exists (select from collections c where c.id = q.target_id and c.deleted_at is not null
      and c.deleted_by_user_ref = ${callerRef})
    else false end)`;
}

/**
 * REQUEST-6: an access marker is decided by the asset's owner, `share.grant` or `system.admin`; a restore marker by the
 * deleter or `system.admin`, but not by `share.grant`; any other code by `share.grant` or `system.admin`. Only
 * `system.admin` decides their own requests.
 */
export function decidableRequests(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (holds(caller, 'system.admin')) return sql`true`;
  const others = sql`q.requester_user_ref <> ${caller.ref}`;
  const restores = sql`(q.requested_capability = ${RESTORE_MARKER} and ${deletedTarget(caller.ref)})`;
  if (holds(caller, 'share.grant')) {
    return sql`(${others} and (q.requested_capability <> ${RESTORE_MARKER} or ${restores}))`;
  }
  return sql`(${others} and (${restores}
    or (q.requested_capability = ${ACCESS_MARKER} and ${ownsTarget(caller.ref)})))`;
}

/**
 * REQUEST-16: the caller's own queue: requests for their assets, and appeals against their deletes. A union instead of
 * `ownsTarget or deletedTarget`, so that each part starts from the smaller table; with `or`, an account without
 * requests would scan all of them.
 */
export function incomingRequests(callerRef: number): Predicate {
  return sql`(q.requester_user_ref <> ${callerRef} and q.id in (
    select r.id from resource_requests r join assets a on a.id = r.target_id
      where r.target_kind = 'asset' and r.requested_capability <> ${RESTORE_MARKER} and a.owner_user_ref = ${callerRef}
    union all
    select r.id from resource_requests r join assets a on a.id = r.target_id
      where r.target_kind = 'asset' and r.requested_capability = ${RESTORE_MARKER}
        and a.deleted_at is not null and a.deleted_by_user_ref = ${callerRef}
    union all
    select r.id from resource_requests r join posts p on p.id = r.target_id
      where r.target_kind = 'post' and r.requested_capability = ${RESTORE_MARKER}
        and p.deleted_at is not null and p.deleted_by_user_ref = ${callerRef}
    union all
    select r.id from resource_requests r join collections c on c.id = r.target_id
      where r.target_kind = 'collection' and r.requested_capability = ${RESTORE_MARKER}
        and c.deleted_at is not null and c.deleted_by_user_ref = ${callerRef}))`;
}

/** Returns whether the caller may see all requests, and therefore gets 404, not 403, for a missing one (REQUEST-9). */
export function seesEveryRequest(caller: Caller): boolean {
  return caller.kind !== 'anonymous' && (holds(caller, 'share.grant') || holds(caller, 'system.admin'));
}

/** Whether the credential allows deciding: not during impersonation, nor with a token without the scope. */
export function mayDecideNow(caller: Caller): boolean {
  if (caller.kind === 'anonymous' || caller.impersonator !== null) return false;
  return caller.token === null || caller.token.scopes.includes('admin');
}

/**
 * Accounts whose decision a request waits for: the asset's owner or the deleter; without one, or for other codes,
 * everyone who may decide it. Never the requester.
 */
export async function decidersOf(db: Database, requestId: string): Promise<number[]> {
  const { rows } = await sql<{ code: string; requester: number; person: number | null }>`
    select q.requested_capability as code, q.requester_user_ref as requester, u.ref as person
    from resource_requests q
      left join assets a on q.target_kind = 'asset' and a.id = q.target_id
      left join posts p on q.target_kind = 'post' and p.id = q.target_id
      left join collections c on q.target_kind = 'collection' and c.id = q.target_id
      left join users u on ${activeAccount('u')} and u.ref = case q.requested_capability
        when ${ACCESS_MARKER} then a.owner_user_ref
        when ${RESTORE_MARKER} then coalesce(a.deleted_by_user_ref, p.deleted_by_user_ref, c.deleted_by_user_ref) end
    where q.id = ${requestId}`.execute(db);
  const request = rows[0];
  if (request === undefined) return [];
  const { code, requester, person } = request;
  if (person !== null && person !== requester) return [person];
  const holders = await holdersOf(db, code === RESTORE_MARKER ? 'system.admin' : 'share.grant');
  return holders.filter((ref) => ref !== requester);
}
