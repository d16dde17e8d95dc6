import { type Static, Type } from 'typebox';
import { NewPassword, PostAuthor, SessionUser, Username } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { FullName } from './users.ts';
import { Count, closed, Email, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** INVITE-3: `used` and `expired` invitations can no longer be accepted, like `revoked` ones. */
export const InvitationState = Type.Enum(['open', 'used', 'revoked', 'expired']);
export type InvitationState = Static<typeof InvitationState>;

const invitation = {
  id: Uuid,
  /** Absent without `users.pii.read`, except for who created the invitation. */
  email: Type.Optional(nullable(Type.String())),
  role: Type.String(),
  team_ids: Type.Array(Uuid),
  state: InvitationState,
  uses: Count,
  max_uses: Count,
  expires_at: Timestamp,
  /** Whether a mail with the link was sent or is about to be. */
  mailed: Type.Boolean(),
  created_at: Timestamp,
  created_by: Type.Optional(PostAuthor),
};

/** An invitation as administrators see it later: its address is not stored. */
export const Invitation = closed(invitation);
export type Invitation = Static<typeof Invitation>;

/** An invitation with its address, which is shown once. */
export const NewInvitation = closed({ ...invitation, url: Type.String() });
export type NewInvitation = Static<typeof NewInvitation>;

/** The longest and the usual time for which an invitation is open, in days. */
export const invitationDays = { most: 90, usual: 7 } as const;

export const createInvitation = operation({
  id: 'createInvitation',
  method: 'POST',
  path: '/admin/invitations',
  tag: 'Invitations',
  summary: 'Invite people',
  description:
    'Returns an address at which the invited person creates an account with this role and these teams. It is shown only here, and is mailed to `email` if the library sends mail. Open for 7 days and one account unless specified otherwise. Returns 403 for a role or a team that the caller may not give.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  example: { email: 'nina@studio.example', role: 'member' },
  body: closed({
    email: Type.Optional(nullable(Email)),
    role: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
    team_ids: Type.Optional(nullable(Type.Array(Uuid, { maxItems: 100, uniqueItems: true }))),
    expires_at: Type.Optional(nullable(Timestamp)),
    max_uses: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1000 }))),
    message: Type.Optional(nullable(Type.String({ maxLength: 2000 }))),
  }),
  responses: { 201: NewInvitation },
  errors: ['capability-not-held', 'role-not-found', 'team-not-found', 'time-in-the-past'],
});

export const listInvitations = operation({
  id: 'listInvitations',
  method: 'GET',
  path: '/admin/invitations',
  tag: 'Invitations',
  summary: 'List invitations',
  description:
    'Lists invitations, newest first, including those that can no longer be accepted. `email` needs `users.pii.read`, except in invitations of the caller.',
  door: { holds: 'users.write' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Invitation) },
  errors: [],
});

export const resendInvitation = operation({
  id: 'resendInvitation',
  method: 'POST',
  path: '/admin/invitations/{id}/resend',
  tag: 'Invitations',
  summary: 'Send an invitation again',
  description:
    'Returns a new address, and mails it if the invitation has an e-mail and the library sends mail. The former address is then 404. An expired invitation is open again for as long as before. The caller must be allowed to give what it gives, and gives it from now on. Returns 409 for one that is used up or revoked.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: closed({ id: Uuid }),
  responses: { 200: NewInvitation },
  errors: ['capability-not-held', 'invitation-over', 'not-found', 'team-not-found'],
});

export const revokeInvitation = operation({
  id: 'revokeInvitation',
  method: 'DELETE',
  path: '/admin/invitations/{id}',
  tag: 'Invitations',
  summary: 'Revoke an invitation',
  description: 'Idempotent. Accounts that were created with the invitation remain.',
  door: { holds: 'users.write' },
  scope: 'admin',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['not-found'],
});

const token = closed({ token: Type.String({ minLength: 1, maxLength: 200 }) });

export const getInvitation = operation({
  id: 'getInvitation',
  method: 'GET',
  path: '/invitations/{token}',
  tag: 'Invitations',
  summary: 'Get an invitation by its address',
  description:
    'Returns what an invited person is told. Unknown, used, expired and revoked invitations are the same 404, and so is one whose creator may no longer give its role.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  params: token,
  responses: {
    200: closed({
      site_name: Type.String(),
      /** The code of the role. */
      role: Type.String(),
      /** The name of the account that invites; null if it is hidden from visitors. */
      invited_by: nullable(Type.String()),
    }),
  },
  errors: ['not-found'],
});

export const acceptInvitation = operation({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/invitations/{token}/accept',
  tag: 'Invitations',
  summary: 'Accept an invitation',
  description:
    'Creates the account and signs in: the response sets the session cookie. Without `email` the account gets that of the invitation, which counts as confirmed; another one does not. A taken username and a caller who is signed in return 409 and use nothing up.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  budget: 'signIn',
  unlisted: true,
  params: token,
  body: closed({
    username: Username,
    password: NewPassword,
    fullname: Type.Optional(nullable(FullName)),
    email: Type.Optional(nullable(Email)),
  }),
  responses: { 201: SessionUser },
  errors: [
    'account-not-active',
    'impersonation-ended',
    'not-found',
    'sign-in-required',
    'signed-in-already',
    'username-taken',
  ],
});
