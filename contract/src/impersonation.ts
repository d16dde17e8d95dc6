import { Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, Reason, Ref, Timestamp, Uuid } from './values.ts';

/** IMPERSONATION-4. The handler checks its refusals in their own order, so the door covers only the first. */
export const impersonate = operation({
  id: 'impersonate',
  method: 'POST',
  path: '/admin/users/{ref}/impersonate',
  tag: 'Impersonation',
  summary: 'Impersonate an account',
  description:
    'Needs `auth.impersonate`. The cookie of the response makes the next request run as the target, for 30 minutes by default. A target that is missing or inactive returns 404, one that holds `system.admin` 403, and the caller’s own account 400. The reason is kept in the audit log.',
  door: 'signedIn',
  // A token that starts and ends an impersonation would obtain a session of its own account, which could create
  // tokens (TOKEN-9).
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
  errors: [
    'already-impersonating',
    'cannot-impersonate-administrator',
    'cannot-impersonate-yourself',
    'capability-missing',
    'not-found',
  ],
});

export const endImpersonation = operation({
  id: 'endImpersonation',
  method: 'POST',
  path: '/auth/impersonation/end',
  tag: 'Impersonation',
  summary: 'End an impersonation',
  description:
    'Ends the impersonation and sets the cookie of a fresh session of the administrator. Returns 400 without an impersonation.',
  door: 'signedIn',
  // A token never leads to a session (TOKEN-9).
  scope: 'session',
  sessionCookie: 'set',
  responses: { 200: closed({ admin_user_ref: Ref, admin_username: Type.String() }) },
  errors: ['not-impersonating'],
});
