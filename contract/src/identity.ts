import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { PasskeyAssertion } from './passkey-assertion.ts';
import { closed, Email, nullable, Ref } from './values.ts';

/** IDENTITY-1: the identity of an author, commenter or owner. */
export const PostAuthor = closed({
  ref: Ref,
  username: Type.String(),
  display_name: Type.String({ minLength: 1 }),
  avatar_url: Type.Optional(nullable(Type.String())),
});
export type PostAuthor = Static<typeof PostAuthor>;

export const DefaultViews = closed({
  feed: Type.Enum(['', 'latest', 'trending', 'following', 'team']),
  layout: Type.Enum(['', 'grid', 'masonry', 'thumbnail', 'list', 'feed']),
  sort: Type.Enum(['', 'newest', 'oldest']),
});

/** The administrator who impersonates this account. */
export const Impersonator = closed({ ref: Ref, username: Type.String() });

/** SESSION-9. */
export const SessionUser = closed({
  ref: Ref,
  username: Type.String(),
  fullname: nullable(Type.String()),
  email: nullable(Type.String()),
  auth_method: Type.Enum(['session', 'token']),
  language: Type.String(),
  theme: Type.Enum(['', 'light', 'dark', 'system']),
  default_views: DefaultViews,
  feed_filters: Type.Optional(closed({ show_restricted: Type.Boolean() })),
  browse_rail: Type.Optional(
    closed({
      hidden_team_ids: Type.Array(Type.String()),
      team_order: Type.Array(Type.String()),
      hidden_tags: Type.Array(Type.String()),
      tag_order: Type.Array(Type.String()),
    }),
  ),
  mature_content: Type.Optional(closed({ show: Type.Boolean() })),
  mature_content_allowed: Type.Boolean(),
  capabilities: Type.Optional(Type.Array(Type.String())),
  capabilities_status: Type.Enum(['resolved', 'unavailable']),
  impersonated_by: nullable(Impersonator),
  /** What the account must do before anything else (ROLE-25). */
  required_step: Type.Optional(Type.Enum(['second_factor'])),
});
export type SessionUser = Static<typeof SessionUser>;

export const Username = Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' });
/** bcrypt reads only 72 bytes, but the scheme hashes an HMAC of the password, so length costs nothing. */
export const NewPassword = Type.String({ minLength: 8, maxLength: 1000 });

export const login = operation({
  id: 'login',
  method: 'POST',
  path: '/auth/login',
  tag: 'Sign-in',
  summary: 'Sign in',
  description:
    'Starts a session and sets the cookie `user`. A wrong password, an unknown name, a locked name and an inactive account return the same 401. An account with two-factor sign-in also needs `totp_code`, or a `passkey` as in `POST /auth/passkey`: 401 `2fa_required` without either. Five failures lock a name for 15 minutes.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  budget: 'signIn',
  example: { username: 'mara', password: 'correct horse battery' },
  body: closed({
    username: Type.String({ minLength: 1, maxLength: 500 }),
    password: Type.String({ maxLength: 1000 }),
    provider: Type.Optional(Type.String({ maxLength: 100 })),
    totp_code: Type.Optional(Type.String({ maxLength: 20 })),
    passkey: Type.Optional(PasskeyAssertion),
  }),
  worksWhenFull: true,
  responses: { 200: SessionUser },
  errors: [
    'account-not-active',
    'identity-provider-not-implemented',
    'identity-provider-redirects',
    'impersonation-ended',
    'sign-in-required',
    'two-factor-code-invalid',
    'two-factor-required',
    'wrong-credentials',
  ],
});

export const logout = operation({
  id: 'logout',
  method: 'POST',
  path: '/auth/logout',
  tag: 'Sign-in',
  summary: 'Sign out',
  description:
    'Ends this session on the server and removes the cookie. Other sessions of the account continue.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'session',
  sessionCookie: 'set',
  worksWhenFull: true,
  responses: { 204: noContent },
  errors: [],
});

export const getSessionUser = operation({
  id: 'getSessionUser',
  method: 'GET',
  path: '/auth/me',
  tag: 'Sign-in',
  summary: 'Get the session and its user',
  description:
    'Returns who the caller is, their preferences and their global capabilities. While `capabilities_status` is `unavailable`, treat the caller as having none.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'read',
  responses: { 200: SessionUser },
  errors: [],
});

export const getMe = operation({
  id: 'getMe',
  method: 'GET',
  path: '/me',
  tag: 'Sign-in',
  summary: 'Get the session and its user (alias)',
  description: 'The same as `GET /auth/me`.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'read',
  responses: { 200: SessionUser },
  errors: [],
});

export const getSetupStatus = operation({
  id: 'getSetupStatus',
  method: 'GET',
  path: '/setup/status',
  tag: 'Set-up',
  summary: 'Check whether the library needs set-up',
  description:
    '`needs_setup` is true while no account holds `system.admin`. `code_required` means that set-up asks for the code that the server printed at start. `directory_sign_in` means that accounts of a directory can sign in, `password_reset` that a new password can be asked for by mail, and `registration` that people may register.',
  door: 'open',
  scope: 'none',
  responses: {
    200: closed({
      needs_setup: Type.Boolean(),
      code_required: Type.Optional(Type.Boolean()),
      directory_sign_in: Type.Optional(Type.Boolean()),
      /** Whether a new password can be asked for by mail. */
      password_reset: Type.Optional(Type.Boolean()),
      /** Whether people may register. */
      registration: Type.Optional(Type.Boolean()),
    }),
  },
  errors: [],
});

export const completeSetup = operation({
  id: 'completeSetup',
  method: 'POST',
  path: '/setup/complete',
  tag: 'Set-up',
  summary: 'Create the first administrator',
  description:
    'Creates the administrator, names the library and signs in: the response sets the session cookie. Works only once; later attempts return 409. If the server requires a set-up code, a wrong or missing one returns 403.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  budget: 'setUp',
  body: closed({
    username: Username,
    password: NewPassword,
    email: Type.Optional(Email),
    site_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })),
    code: Type.Optional(Type.String({ maxLength: 100 })),
    /** The audience of new files: readers of their posts (a studio) or every signed-in account (an archive). */
    default_sensitivity: Type.Optional(Type.Enum(['posts', 'org'])),
  }),
  responses: { 201: SessionUser },
  errors: [
    'account-not-active',
    'already-set-up',
    'impersonation-ended',
    'set-up-code-missing',
    'set-up-code-wrong',
    'set-up-name-refused',
    'sign-in-required',
    'username-taken',
  ],
});
