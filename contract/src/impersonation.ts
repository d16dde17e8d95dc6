import { Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, Reason, Ref, Timestamp, Uuid } from './values.ts';

/** IMPERSONATION-4. Its refusals have an order of their own, so the door is only the first of them. */
export const impersonate = operation({
  id: 'impersonate',
  method: 'POST',
  path: '/admin/users/{ref}/impersonate',
  tag: 'Impersonation',
  summary: 'Impersonate an account',
  description:
    'Needs `auth.impersonate`. The cookie of the response makes the next request run as the target, for 30 minutes by default. A target that is missing or inactive is 404, one that holds `system.admin` is 403, and oneself is 400. The reason is kept in the audit log.',
  door: 'signedIn',
  // A token that began one and ended it would hold a session of its own account, which could mint (TOKEN-9).
  scope: 'session',
  sessionCookie: 'set',
  params: closed({ ref: Ref }),
  example: { reason: 'Reproducing a report about missing posts.' },
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
  summary: 'End an impersonation',
  description:
    'Ends the impersonation and sets the cookie of a fresh session of the administrator. Without an impersonation it is 400.',
  door: 'signedIn',
  scope: 'admin',
  sessionCookie: 'set',
  responses: { 200: closed({ admin_user_ref: Ref, admin_username: Type.String() }) },
  errors: [400],
});
