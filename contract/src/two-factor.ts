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
  summary: 'Get the two-factor state',
  description: 'Returns whether sign-in asks for a code and how many recovery codes remain.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'read',
  responses: { 200: TwoFactorState },
  errors: [],
});

export const enrollTwoFactor = operation({
  id: 'enrollTwoFactor',
  method: 'POST',
  path: '/account/2fa/enroll',
  tag: 'Account',
  summary: 'Start two-factor enrolment',
  description:
    'Creates a secret for an authenticator app. Sign-in does not ask for a code until the enrolment is confirmed; enrolling again before that replaces the secret. Returns 409 while two-factor sign-in is on.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'admin',
  whileImpersonating: 'refused',
  responses: { 200: closed({ secret_base32: Type.String(), otpauth_url: Type.String() }) },
  errors: ['two-factor-already-on'],
});

export const confirmTwoFactor = operation({
  id: 'confirmTwoFactor',
  method: 'POST',
  path: '/account/2fa/confirm',
  tag: 'Account',
  summary: 'Confirm two-factor enrolment',
  description:
    'Turns two-factor sign-in on after a valid code from the app and returns ten recovery codes, which are not shown again. A wrong code returns 400 `invalid_2fa_code`.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'admin',
  whileImpersonating: 'refused',
  example: { code: '492039' },
  body: closed({ code: Type.String({ maxLength: 20 }) }),
  responses: { 200: RecoveryCodes },
  errors: ['two-factor-already-on', 'two-factor-enrolment-code-invalid', 'two-factor-not-enrolled'],
});

export const disableTwoFactor = operation({
  id: 'disableTwoFactor',
  method: 'POST',
  path: '/account/2fa/disable',
  tag: 'Account',
  summary: 'Turn two-factor sign-in off',
  description:
    'Needs the current password; a wrong one returns 403. Returns 409 when two-factor sign-in is off.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'admin',
  whileImpersonating: 'refused',
  body: CurrentPassword,
  responses: { 204: noContent },
  errors: ['directory-unavailable', 'two-factor-off', 'wrong-password'],
});

export const renewRecoveryCodes = operation({
  id: 'renewRecoveryCodes',
  method: 'POST',
  path: '/account/2fa/recovery-codes',
  tag: 'Account',
  summary: 'Replace the recovery codes',
  description:
    'Returns ten new recovery codes, which are not shown again, and invalidates the old ones. Needs the current password; a wrong one returns 403.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'admin',
  whileImpersonating: 'refused',
  body: CurrentPassword,
  responses: { 200: RecoveryCodes },
  errors: ['directory-unavailable', 'two-factor-off', 'wrong-password'],
});

export const removeUserTwoFactor = operation({
  id: 'removeUserTwoFactor',
  method: 'DELETE',
  path: '/admin/users/{ref}/2fa',
  tag: 'Users',
  summary: 'Remove the second factor of an account',
  description:
    'Removes codes and passkeys, for people who have lost their device. Returns 403 if the account holds a capability that the caller lacks.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: closed({ ref: Ref }),
  responses: { 204: noContent },
  errors: ['account-has-more-rights', 'current-password-required', 'not-found'],
});
