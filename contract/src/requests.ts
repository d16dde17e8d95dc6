import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { operation } from './operation.ts';
import { closed, nullable, Ref, Timestamp, Uuid } from './values.ts';

/** spec 2.8, names by choices. */
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
  /** On queues only. */
  decidable_by_caller: Type.Optional(Type.Boolean()),
  grant_expires_at: nullable(Timestamp),
});
export type ResourceRequest = Static<typeof ResourceRequest>;

/** spec 4.8. */
export const requestAccess = operation({
  id: 'requestAccess',
  method: 'POST',
  path: '/assets/{id}/request-access',
  tag: 'Requests',
  summary: 'Ask an asset’s owner; asking again while it is pending changes nothing',
  door: 'signedIn',
  scope: 'admin',
  params: closed({ id: Uuid }),
  body: closed({
    capability: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
    reason: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
  }),
  bodyOptional: true,
  responses: { 200: ResourceRequest, 201: ResourceRequest },
  errors: [404],
});
