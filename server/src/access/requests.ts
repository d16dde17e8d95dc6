import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds } from './caller.ts';

/**
 * Who decides which request (spec 2.8). The expressions speak of `resource_requests q`.
 */
type Predicate = RawBuilder<boolean>;

/** The marker codes type a request and confer nothing. */
export const ACCESS_MARKER = 'content.access.request';
export const RESTORE_MARKER = 'content.restore.request';

/** The asset asked for is the caller's. */
function ownsTarget(callerRef: number): Predicate {
  return sql`(q.target_kind = 'asset' and exists (
    select from assets a where a.id = q.target_id and a.owner_user_ref = ${callerRef}))`;
}

/** The thing asked back was deleted by the caller. */
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
 * spec 2.8, 4.8: an access marker is decided by the asset's owner, `share.grant` or `system.admin`; a restore
 * marker by whoever deleted, or `system.admin`, and `share.grant` does not qualify; any other code by `share.grant`
 * or `system.admin`. Nobody decides what they asked for themselves, but a `system.admin`.
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

/** The caller's own queue: asks for their assets, and appeals against their deletes (spec 4.8 rule 5). */
export function incomingRequests(callerRef: number): Predicate {
  return sql`(q.requester_user_ref <> ${callerRef} and (
    (q.requested_capability = ${RESTORE_MARKER} and ${deletedTarget(callerRef)})
    or (q.requested_capability <> ${RESTORE_MARKER} and ${ownsTarget(callerRef)})))`;
}

/** Whether the way the caller came lets them decide at all: not behind a mask, nor by a token without the scope. */
export function mayDecideNow(caller: Caller): boolean {
  if (caller.kind === 'anonymous' || caller.impersonator !== null) return false;
  return caller.token === null || caller.token.scopes.includes('admin');
}
