import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** REQUEST-1. */
export const ResourceRequest = closed({
  id: Uuid,
  requester_user_ref: Ref,
  requester: Type.Optional(PostAuthor),
  target_kind: Type.Enum(['asset', 'post', 'collection']),
  target_id: Uuid,
  requested_capability: Type.String(),
  reason: Type.Optional(Type.String()),
  state: Type.Enum(['pending', 'granted', 'denied', 'expired']),
  requested_at: Timestamp,
  decided_at: Type.Optional(Timestamp),
  decided_by_user_ref: Type.Optional(Ref),
  decision_reason: Type.Optional(Type.String()),
  /** In queues only. */
  decidable_by_caller: Type.Optional(Type.Boolean()),
  grant_expires_at: nullable(Timestamp),
});
export type ResourceRequest = Static<typeof ResourceRequest>;

/** REQUEST-1. */
export const requestAccess = operation({
  id: 'requestAccess',
  method: 'POST',
  path: '/assets/{id}/request-access',
  tag: 'Requests',
  summary: 'Ask for access to an asset',
  description:
    'Asks the owner for access, or for another capability. Repeating a pending request returns 200 and sends no notification. Returns 400 for the caller’s own asset. At most 30 requests an hour.',
  door: 'signedIn',
  scope: 'admin',
  budget: 'ask',
  params: closed({ id: Uuid }),
  example: { reason: 'For the poster of the exhibition.' },
  body: closed({
    capability: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
    reason: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
  }),
  bodyOptional: true,
  responses: { 200: ResourceRequest, 201: ResourceRequest },
  errors: ['capability-unknown', 'not-found', 'own-asset', 'restore-requested-elsewhere'],
});

export const RequestState = Type.Enum(['pending', 'granted', 'denied', 'expired']);
const queueQuery = closed({ ...pageQuery, state: Type.Optional(RequestState) });

export const listMyRequests = operation({
  id: 'listMyRequests',
  method: 'GET',
  path: '/account/requests',
  tag: 'Requests',
  summary: 'List own requests',
  description: 'Lists what the caller has asked for, newest first.',
  door: 'signedIn',
  scope: 'read',
  query: queueQuery,
  responses: { 200: page(ResourceRequest) },
  errors: [],
});

export const listIncomingRequests = operation({
  id: 'listIncomingRequests',
  method: 'GET',
  path: '/account/requests/incoming',
  tag: 'Requests',
  summary: 'List requests to the caller',
  description:
    'Lists requests for the caller’s assets and for the restoration of what the caller deleted. `decidable_by_caller` says whether the caller may decide them.',
  door: 'signedIn',
  scope: 'read',
  query: queueQuery,
  responses: { 200: page(ResourceRequest) },
  errors: [],
});

export const listAllRequests = operation({
  id: 'listAllRequests',
  method: 'GET',
  path: '/admin/requests',
  tag: 'Requests',
  summary: 'List all requests',
  description: 'Lists the requests of all accounts, newest first.',
  door: { holds: 'share.grant' },
  scope: 'read',
  query: queueQuery,
  responses: { 200: page(ResourceRequest) },
  errors: [],
});

/** REQUEST-9. The right to decide depends on the request, so the door covers only the first check. */
export const decideRequest = operation({
  id: 'decideRequest',
  method: 'POST',
  path: '/admin/requests/{id}/decide',
  tag: 'Requests',
  summary: 'Decide a request',
  description:
    'Grants or denies a request. Access requests are decided by the owner of the asset or `share.grant`, restore requests by the account that deleted the content; `system.admin` decides all. All other callers get 403. Returns 409 if the request has already been decided.',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  params: closed({ id: Uuid }),
  example: { decision: 'granted', expires_at: '2026-12-21T09:30:00.000Z' },
  body: closed({
    decision: Type.Enum(['granted', 'denied']),
    reason: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
    expires_at: Type.Optional(nullable(Timestamp)),
  }),
  responses: { 200: ResourceRequest },
  errors: [
    'install-quota-exceeded',
    'not-found',
    'owner-quota-exceeded',
    'quota-exceeded',
    'request-already-decided',
    'request-not-yours',
    'restore-does-not-expire',
    'restore-not-yours',
    'time-in-the-past',
  ],
});
