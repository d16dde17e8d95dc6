import { Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, Reason, Ref, Timestamp, Uuid } from './values.ts';

/** IMPERSONATION-4. Its refusals have an order of their own, so the door is only the first of them. */
export const impersonate = operation({
  id: 'impersonate',
  method: 'POST',
  path: '/admin/users/{ref}/impersonate',
  tag: 'Impersonation',
  summary: 'Be somebody else for half an hour (needs auth.impersonate)',
  door: 'signedIn',
  // A token that began one and ended it would hold a session of its own account, which could mint (TOKEN-9).
  scope: 'session',
  params: closed({ ref: Ref }),
  body: Reason,
  bodyOptional: true,
  responses: {
    200: closed({
      session_id: Uuid,
      target_user_ref: Ref,
      target_username: Type.String(),
      expires_at: Timestamp,
    }),
  },
  errors: [404],
});

export const endImpersonation = operation({
  id: 'endImpersonation',
  method: 'POST',
  path: '/auth/impersonation/end',
  tag: 'Impersonation',
  summary: 'Be oneself again, in a fresh session',
  door: 'signedIn',
  scope: 'admin',
  responses: { 200: closed({ admin_user_ref: Ref, admin_username: Type.String() }) },
  errors: [400],
});
