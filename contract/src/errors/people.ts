import type { ErrorDefinitions } from './definition.ts';

/** Errors of accounts, signing in, roles, teams, quotas and mail. */
export const peopleErrors = {
  'account-has-more-rights': { status: 403, text: 'that account has capabilities that you lack' },
  'already-impersonating': { status: 400, text: 'you are already acting as another user' },
  'asset-not-found': { status: 404, text: 'asset not found' },
  'cannot-add-yourself-to-team': { status: 403, text: 'nobody can add themselves to a team' },
  'cannot-follow-yourself': { status: 400, text: 'you cannot follow yourself' },
  'cannot-impersonate-administrator': {
    status: 403,
    text: 'a holder of system.admin cannot be impersonated',
  },
  'cannot-impersonate-yourself': { status: 400, text: 'you cannot impersonate yourself' },
  'capability-not-held': { status: 403, text: 'you do not hold that capability yourself' },
  'current-password-required': { status: 403, text: 'change your own password with the current one' },
  'directory-unavailable': {
    status: 503,
    text: 'the directory that checks this password does not respond',
  },
  'identity-provider-not-implemented': {
    status: 501,
    text: 'this identity provider is not implemented yet',
  },
  'install-quota-exceeded': {
    status: 413,
    text: 'the library may store {quota}, and this is more; ask an administrator',
  },
  'last-administrator': { status: 400, text: 'that would leave the library without an administrator' },
  'mail-server-invalid': { status: 400, text: 'smtp_url {reason}', property: 'smtp_url' },
  'mail-server-not-set-up': { status: 409, text: 'no mail server is set up' },
  'message-not-sent': { status: 409, text: 'the message was not sent: {reason}' },
  'not-impersonating': { status: 400, text: 'you are not acting as another user' },
  'owner-quota-exceeded': { status: 413, text: 'this is more than its owner’s quota of {quota}' },
  'password-managed-by-directory': {
    status: 409,
    text: 'a directory manages the password of this account',
  },
  'quota-exceeded': { status: 413, text: 'this is more than your quota of {quota}' },
  'restore-not-yours': { status: 403, text: 'only the account that deleted it can restore it' },
  'role-not-found': { status: 404, text: 'role not found' },
  'slug-taken': { status: 409, text: 'that slug is taken', property: 'slug' },
  'team-asset-not-found': { status: 404, text: 'no public asset of this team' },
  'team-files-not-readable': {
    status: 403,
    text: 'this opens files of a team that you may not read yourself',
  },
  'team-not-found': { status: 404, text: 'team not found' },
  'team-rights-not-held': {
    status: 403,
    text: 'this gives {capability} in the team, which you do not hold',
  },
  'teams-in-cycle': { status: 400, text: 'teams would form a cycle' },
  'teams-too-deep': { status: 400, text: 'teams are at most {max} deep' },
  'time-zone-unknown': {
    status: 400,
    text: 'body.digest.time_zone is not a time zone that this server knows',
    property: 'digest.time_zone',
  },
  'too-many-sign-ins': { status: 429, text: 'too many sign-ins at once' },
  'too-many-tokens': { status: 409, text: 'an account has at most {max} tokens' },
  'two-factor-already-on': { status: 409, text: 'two-factor sign-in is already on' },
  // HTTP-1 binds these two texts, which are older than the codes.
  'two-factor-code-invalid': { status: 401, text: 'invalid_2fa_code' },
  'two-factor-required': { status: 401, text: '2fa_required' },
  'two-factor-enrolment-code-invalid': { status: 400, text: 'invalid_2fa_code', property: 'code' },
  'two-factor-not-enrolled': { status: 409, text: 'enrol first' },
  'two-factor-off': { status: 409, text: 'two-factor sign-in is off' },
  'unsubscribe-address-invalid': { status: 401, text: 'this address is not valid, or has expired' },
  'user-not-found': { status: 404, text: 'user not found' },
  'username-taken': { status: 409, text: 'that username is taken', property: 'username' },
  'wrong-credentials': { status: 401, text: 'wrong username or password' },
  'wrong-password': { status: 403, text: 'wrong password' },
} as const satisfies ErrorDefinitions;
