import { type Static, Type } from 'typebox';
import { Impersonator, PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** A session of an account, without its token. */
export const Session = closed({
  id: Uuid,
  /** True for the session of this HTTP request. */
  current: Type.Boolean(),
  user_agent: nullable(Type.String()),
  address: nullable(Type.String()),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  impersonated_by: nullable(Impersonator),
});
export type Session = Static<typeof Session>;

export const listSessions = operation({
  id: 'listSessions',
  method: 'GET',
  path: '/account/sessions',
  tag: 'Account',
  summary: 'List own sessions',
  description:
    'Lists the sessions of the account, newest first, and marks the current one. Impersonations name the administrator.',
  door: 'signedIn',
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Session) },
  errors: [],
});

export const endSession = operation({
  id: 'endSession',
  method: 'DELETE',
  path: '/account/sessions/{id}',
  tag: 'Account',
  summary: 'End a session',
  description:
    'Ends one session of the account with effect from its next request. Returns 404 for a session of another account.',
  door: 'signedIn',
  scope: 'admin',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const endOtherSessions = operation({
  id: 'endOtherSessions',
  method: 'DELETE',
  path: '/account/sessions',
  tag: 'Account',
  summary: 'End all other sessions',
  description: 'Signs the account out everywhere except here.',
  door: 'signedIn',
  scope: 'admin',
  responses: { 204: noContent },
  errors: [],
});

/** SESSION-16. */
export const SignIn = closed({
  at: Timestamp,
  ok: Type.Boolean(),
  /** `password`, `passkey` or the name of an identity provider. */
  method: Type.String(),
  address: nullable(Type.String()),
  user_agent: nullable(Type.String()),
});
export type SignIn = Static<typeof SignIn>;

export const listSignIns = operation({
  id: 'listSignIns',
  method: 'GET',
  path: '/account/sign-ins',
  tag: 'Account',
  summary: 'List recent sign-ins',
  description: 'Lists the newest 50 sign-ins and failed attempts of the account, newest first.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ items: Type.Array(SignIn) }) },
  errors: [],
});

/** A sign-in of any account. `address` and `user_agent` need users.pii.read. */
export const UserSignIn = closed({ id: Uuid, ...SignIn.properties, user: nullable(PostAuthor) });
export type UserSignIn = Static<typeof UserSignIn>;

export const listUserSignIns = operation({
  id: 'listUserSignIns',
  method: 'GET',
  path: '/admin/sign-ins',
  tag: 'Users',
  summary: 'List the sign-ins of all accounts',
  description:
    'Lists sign-ins and failed attempts of all accounts, newest first. The newest 50 failures of an account are kept. `method` is `password`, `passkey` or the name of an identity provider. `address` and `user_agent` are null unless the caller holds `users.pii.read`.',
  door: { holds: 'users.read' },
  scope: 'read',
  query: closed({
    ...pageQuery,
    user_ref: Type.Optional(Ref),
    ok: Type.Optional(Type.Boolean()),
    method: Type.Optional(Type.String({ maxLength: 100 })),
    /** Sign-ins at or after `from` and before `to`. */
    from: Type.Optional(Timestamp),
    to: Type.Optional(Timestamp),
  }),
  responses: { 200: page(UserSignIn) },
  errors: [],
});

export const endAllSessions = operation({
  id: 'endAllSessions',
  method: 'DELETE',
  path: '/admin/sessions',
  tag: 'Users',
  summary: 'End the sessions of everyone',
  description: 'Signs everyone but the caller out. Access tokens stay valid.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  responses: { 204: noContent },
  errors: [],
});

const userParams = closed({ ref: Ref });

export const listUserSessions = operation({
  id: 'listUserSessions',
  method: 'GET',
  path: '/admin/users/{ref}/sessions',
  tag: 'Users',
  summary: 'List the sessions of an account',
  description:
    'Lists the sessions of an account, newest first. `address` and `user_agent` are null unless the caller holds `users.pii.read`.',
  door: { holds: 'users.read' },
  scope: 'read',
  params: userParams,
  query: closed(pageQuery),
  responses: { 200: page(Session) },
  errors: ['user-not-found'],
});

export const endUserSession = operation({
  id: 'endUserSession',
  method: 'DELETE',
  path: '/admin/users/{ref}/sessions/{id}',
  tag: 'Users',
  summary: 'End a session of an account',
  description: 'Signs out one session. Returns 403 if the account holds a capability that the caller lacks.',
  door: { holds: 'users.write' },
  scope: 'admin',
  params: closed({ ref: Ref, id: Uuid }),
  responses: { 204: noContent },
  errors: ['account-has-more-rights', 'not-found'],
});

export const endUserSessions = operation({
  id: 'endUserSessions',
  method: 'DELETE',
  path: '/admin/users/{ref}/sessions',
  tag: 'Users',
  summary: 'End all sessions of an account',
  description:
    'Signs an account out everywhere. Returns 403 if the account holds a capability that the caller lacks.',
  door: { holds: 'users.write' },
  scope: 'admin',
  params: userParams,
  responses: { 204: noContent },
  errors: ['account-has-more-rights', 'not-found'],
});
