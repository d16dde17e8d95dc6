import { type Static, Type } from 'typebox';
import { NewPassword, Username } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Accepted, AccountLogin } from './password-reset.ts';
import { FullName } from './users.ts';
import { closed, Email, nullable } from './values.ts';

const Registration = Type.Enum(['off', 'approval', 'open']);
const Domains = Type.Array(Type.String({ minLength: 1, maxLength: 253, pattern: '^[^\\s@]+$' }), {
  maxItems: 100,
});
const RoleCode = Type.String({ minLength: 1, maxLength: 100 });

/** The longest that sessions may be allowed to last, in days. */
const SessionDays = Type.Integer({ minimum: 1, maximum: 365 });
const SecondFactor = Type.Enum(['optional', 'required']);

/** How people get accounts by themselves, and what sessions of all accounts need. */
export const AccountSettings = closed({
  /** `approval`: an administrator activates the account after the e-mail is confirmed. */
  registration: Registration,
  /** The e-mail domains that may register. An empty list allows every domain. */
  allowed_domains: Domains,
  /** The code of the role of registered accounts. */
  registration_role: RoleCode,
  /** `required`: every account needs a second factor, whatever its role asks for. */
  second_factor: SecondFactor,
  /** How long a session lasts after its last use. Configuration may set more days than this operation accepts. */
  session_days: Type.Integer({ minimum: 1 }),
});
export type AccountSettings = Static<typeof AccountSettings>;

export const getAccountSettings = operation({
  id: 'getAccountSettings',
  method: 'GET',
  path: '/admin/system/accounts',
  tag: 'System',
  summary: 'Get the settings of accounts',
  description:
    'Returns whether people may register, with which e-mails and as what, whether everyone needs a second factor, and how long sessions last.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: AccountSettings },
  errors: [],
});

export const updateAccountSettings = operation({
  id: 'updateAccountSettings',
  method: 'PATCH',
  path: '/admin/system/accounts',
  tag: 'System',
  summary: 'Change the settings of accounts',
  description:
    'Registration needs a mail server and a public address: 409 without. Returns 403 for a role that the caller may not give. `second_factor` and `session_days` bind existing sessions from their next request.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({
    registration: Type.Optional(nullable(Registration)),
    allowed_domains: Type.Optional(nullable(Domains)),
    registration_role: Type.Optional(nullable(RoleCode)),
    second_factor: Type.Optional(nullable(SecondFactor)),
    session_days: Type.Optional(nullable(SessionDays)),
  }),
  responses: { 200: AccountSettings },
  errors: ['capability-not-held', 'mail-server-not-set-up', 'public-address-missing', 'role-not-found'],
});

export const register = operation({
  id: 'register',
  method: 'POST',
  path: '/auth/register',
  tag: 'Sign-in',
  summary: 'Register',
  description:
    'Creates a pending account and mails an address that confirms the e-mail. The response is the same if the e-mail is known; its owner gets a mail then. Returns 403 while registration is off and for e-mails of other domains, and 409 if the username is taken.',
  door: 'open',
  scope: 'none',
  budget: 'signIn',
  body: closed({
    username: Username,
    password: NewPassword,
    email: Email,
    fullname: Type.Optional(nullable(FullName)),
  }),
  responses: { 202: Accepted },
  errors: ['email-domain-not-allowed', 'registration-closed', 'username-taken'],
});

export const verifyEmail = operation({
  id: 'verifyEmail',
  method: 'POST',
  path: '/auth/verify-email',
  tag: 'Sign-in',
  summary: 'Confirm an e-mail',
  description:
    'Confirms the e-mail to which the token was mailed. A registered account becomes active, or waits for an administrator. Unknown, used and expired tokens are the same 404; a token is valid for a day.',
  door: 'open',
  scope: 'none',
  example: { token: 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6' },
  body: closed({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const resendVerification = operation({
  id: 'resendVerification',
  method: 'POST',
  path: '/auth/resend-verification',
  tag: 'Sign-in',
  summary: 'Ask for another mail that confirms an e-mail',
  description:
    'Mails every account with this username or e-mail that has an e-mail to confirm. The response is the same for every name. An account gets at most three such mails an hour.',
  door: 'open',
  scope: 'none',
  budget: 'signIn',
  example: { login: 'mara' },
  body: AccountLogin,
  responses: { 202: Accepted },
  errors: [],
});
