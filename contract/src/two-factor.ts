import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, Ref, Timestamp } from './values.ts';

export const TwoFactorState = closed({
  enrolled: Type.Boolean(),
  confirmed: Type.Boolean(),
  enrolled_at: nullable(Timestamp),
  confirmed_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  recovery_codes_remaining: Count,
});
export type TwoFactorState = Static<typeof TwoFactorState>;

export const RecoveryCodes = closed({
  recovery_codes: Type.Array(Type.String(), { minItems: 10, maxItems: 10 }),
});
export const CurrentPassword = closed({ current_password: Type.String({ maxLength: 1000 }) });

export const getTwoFactor = operation({
  id: 'getTwoFactor',
  method: 'GET',
  path: '/account/2fa',
  tag: 'Account',
  summary: 'Whether signing in asks for a second factor',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: TwoFactorState },
  errors: [],
});

export const enrollTwoFactor = operation({
  id: 'enrollTwoFactor',
  method: 'POST',
  path: '/account/2fa/enroll',
  tag: 'Account',
  summary: 'Make a secret for an authenticator app; nothing is asked for until it is confirmed',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  responses: { 200: closed({ secret_base32: Type.String(), otpauth_url: Type.String() }) },
  errors: [409],
});

export const confirmTwoFactor = operation({
  id: 'confirmTwoFactor',
  method: 'POST',
  path: '/account/2fa/confirm',
  tag: 'Account',
  summary: 'Prove that the app knows the secret; answers the recovery codes, this once',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  body: closed({ code: Type.String({ maxLength: 20 }) }),
  responses: { 200: RecoveryCodes },
  errors: [409],
});

export const disableTwoFactor = operation({
  id: 'disableTwoFactor',
  method: 'POST',
  path: '/account/2fa/disable',
  tag: 'Account',
  summary: 'Sign in without a second factor again',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  body: CurrentPassword,
  responses: { 204: noContent },
  errors: [409],
});

export const renewRecoveryCodes = operation({
  id: 'renewRecoveryCodes',
  method: 'POST',
  path: '/account/2fa/recovery-codes',
  tag: 'Account',
  summary: 'Ten new recovery codes; the old ones are void',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  body: CurrentPassword,
  responses: { 200: RecoveryCodes },
  errors: [409],
});

export const removeUserTwoFactor = operation({
  id: 'removeUserTwoFactor',
  method: 'DELETE',
  path: '/admin/users/{ref}/2fa',
  tag: 'Users',
  summary: 'Take the second factor off an account whose owner lost it',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: closed({ ref: Ref }),
  responses: { 204: noContent },
  errors: [404],
});
