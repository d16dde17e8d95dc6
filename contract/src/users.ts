import { type Static, Type } from 'typebox';
import { NewPassword, Username } from './identity.ts';
import { Legacy } from './legacy.ts';
import { noContent, operation } from './operation.ts';
import { Language } from './preferences.ts';
import { Count, closed, Email, nullable, page, pageQuery, Ref, Removal, Timestamp, Uuid } from './values.ts';

const userParams = closed({ ref: Ref });

/** USER-22: a link on a profile. */
export const ProfileLink = closed({
  label: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
  url: Type.String({ maxLength: 2000, pattern: '^https?://[^\\s/?#@\\\\]+([/?#][^\\s\\\\]*)?$' }),
});
export type ProfileLink = Static<typeof ProfileLink>;

/** USER-22. */
export const mostProfileLinks = 10;

/** A profile as other callers see it (USER-1). */
export const UserProfile = closed({
  ref: Ref,
  username: Type.String(),
  display_name: Type.String({ minLength: 1 }),
  /** Absent for anonymous callers. */
  fullname: Type.Optional(nullable(Type.String())),
  bio: Type.String(),
  avatar_url: nullable(Type.String()),
  /** USER-21: null for callers who may not see the picture. */
  banner_asset_id: nullable(Uuid),
  links: Type.Array(ProfileLink),
  /** Pinned posts that the caller may read, the latest pin first (POST-51). */
  pinned_post_ids: Type.Array(Uuid),
  created_at: Timestamp,
  follower_count: Count,
  following_count: Count,
});
export type UserProfile = Static<typeof UserProfile>;

export const getUser = operation({
  id: 'getUser',
  method: 'GET',
  path: '/users/{ref}',
  tag: 'Users',
  summary: 'Get a profile',
  description:
    'Returns the profile of an account. Anonymous callers do not get `fullname`, and get 404 for an account that hides from them.',
  door: 'public',
  scope: 'read',
  params: userParams,
  replica: true,
  responses: { 200: UserProfile },
  errors: ['not-found'],
});

export const listPeople = operation({
  id: 'listPeople',
  method: 'GET',
  path: '/users',
  tag: 'Users',
  summary: 'List people',
  description:
    'Lists the profiles of active accounts by their display name. `q` is part of a username or a name that the caller sees. Anonymous callers do not get accounts that hide from them.',
  door: 'public',
  scope: 'read',
  query: Type.Object({ ...pageQuery, q: Type.Optional(Type.String({ maxLength: 200 })) }),
  replica: true,
  responses: { 200: page(UserProfile) },
  errors: [],
});

export const getUserByUsername = operation({
  id: 'getUserByUsername',
  method: 'GET',
  path: '/users/by-username/{username}',
  tag: 'Users',
  summary: 'Get a profile by username',
  description: 'The same as `GET /users/{ref}`, found by username in any case.',
  door: 'public',
  scope: 'read',
  params: closed({ username: Type.String({ minLength: 1, maxLength: 500 }) }),
  replica: true,
  responses: { 200: UserProfile },
  errors: ['not-found'],
});

export const FullName = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

export const updateUser = operation({
  id: 'updateUser',
  method: 'PATCH',
  path: '/users/{ref}',
  tag: 'Users',
  summary: 'Change a profile',
  description:
    'Accounts change their own profile; another profile needs `users.write`. One’s own new e-mail applies once it is confirmed (`POST /auth/verify-email`) if the library sends mail. An avatar must be a rendered picture that belongs to the account and that everyone may see; a banner is any rendered picture that the caller may see. Another asset returns 404. `links` replaces all links.',
  door: 'signedIn',
  scope: 'admin',
  params: userParams,
  example: { display_name: 'Mara Lind', clear_avatar: true },
  body: closed({
    display_name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }))),
    bio: Type.Optional(nullable(Type.String({ maxLength: 5000 }))),
    fullname: Type.Optional(nullable(FullName)),
    email: Type.Optional(nullable(Email)),
    hide_from_anonymous: Type.Optional(nullable(Type.Boolean())),
    avatar_asset_id: Type.Optional(nullable(Uuid)),
    banner_asset_id: Type.Optional(nullable(Uuid)),
    links: Type.Optional(nullable(Type.Array(ProfileLink, { maxItems: mostProfileLinks }))),
    clear_display_name: Removal,
    clear_fullname: Removal,
    clear_email: Removal,
    clear_avatar: Removal,
    clear_banner: Removal,
  }),
  responses: { 200: UserProfile },
  errors: [
    'account-has-more-rights',
    'asset-not-found',
    'capability-missing',
    'exclusive-properties',
    'not-found',
  ],
});

/** The caller's own account, including what profiles do not show. */
export const AccountProfile = closed({
  ref: Ref,
  username: Type.String(),
  display_name: nullable(Type.String()),
  fullname: nullable(Type.String()),
  email: nullable(Type.String()),
  /** The e-mail that becomes `email` once it is confirmed; null for none. */
  pending_email: nullable(Type.String()),
  bio: Type.String(),
  hide_from_anonymous: Type.Boolean(),
  avatar_asset_id: nullable(Uuid),
  avatar_url: nullable(Type.String()),
  banner_asset_id: nullable(Uuid),
  links: Type.Array(ProfileLink),
  /** `password`, or the directory that holds the password of this account. */
  provider: Type.String(),
  created_at: Timestamp,
});
export type AccountProfile = Static<typeof AccountProfile>;

export const getAccountProfile = operation({
  id: 'getAccountProfile',
  method: 'GET',
  path: '/account/profile',
  tag: 'Account',
  summary: 'Get own account',
  description:
    'Returns the account as its owner may edit it, including properties that profiles do not show.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: AccountProfile },
  errors: [],
});

export const changePassword = operation({
  id: 'changePassword',
  method: 'POST',
  path: '/account/password',
  tag: 'Account',
  summary: 'Change the password',
  description:
    'Needs the current password; a wrong one returns 403 and counts towards the lock. Ends every other session of the account. Returns 409 for accounts of a directory, which change their password there.',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  body: closed({ current_password: Type.String({ maxLength: 1000 }), new_password: NewPassword }),
  responses: { 204: noContent },
  errors: ['directory-unavailable', 'password-managed-by-directory', 'wrong-password'],
});

const followState = { 204: noContent };

export const getUserFollow = operation({
  id: 'getUserFollow',
  method: 'GET',
  path: '/users/{ref}/follow',
  tag: 'Users',
  summary: 'Check whether the caller follows an account',
  description: 'Returns 404 if the account does not exist.',
  door: 'signedIn',
  scope: 'read',
  params: userParams,
  responses: { 200: closed({ following: Type.Boolean() }) },
  errors: ['user-not-found'],
});

export const followUser = operation({
  id: 'followUser',
  method: 'POST',
  path: '/users/{ref}/follow',
  tag: 'Users',
  summary: 'Follow an account',
  description:
    'Idempotent. While following, the caller may read the account’s posts of visibility `followers`. Returns 400 for the caller’s own account.',
  door: 'signedIn',
  scope: 'admin',
  params: userParams,
  seenBy: 'caller',
  responses: followState,
  errors: ['cannot-follow-yourself', 'user-not-found'],
});

export const unfollowUser = operation({
  id: 'unfollowUser',
  method: 'DELETE',
  path: '/users/{ref}/follow',
  tag: 'Users',
  summary: 'Unfollow an account',
  description: 'Idempotent.',
  door: 'signedIn',
  scope: 'admin',
  params: userParams,
  seenBy: 'caller',
  responses: followState,
  errors: ['user-not-found'],
});

export const UserStatus = Type.Enum(['active', 'pending', 'disabled', 'archived']);
export type UserStatus = Static<typeof UserStatus>;

/** What keeps an account from signing in. */
const Obstacle = Type.Enum(['no_password', 'locked', 'expired', 'pending', 'disabled', 'archived']);

/** USER-20: whether an account can sign in now, with what, and why not. */
export const SignInState = closed({
  possible: Type.Boolean(),
  /** `password`, `passkey` or the names of identity providers. */
  by: Type.Array(Type.String()),
  obstacle: Type.Optional(Obstacle),
});
export type SignInState = Static<typeof SignInState>;

/** An account as administrators see it. `fullname` and `email` need users.pii.read. */
export const AdminUser = closed({
  ref: Ref,
  username: Type.String(),
  display_name: Type.String(),
  /** The display name that is set; null if another name stands in for it. */
  own_display_name: nullable(Type.String()),
  fullname: Type.Optional(nullable(Type.String())),
  email: Type.Optional(nullable(Type.String())),
  role: Type.String(),
  status: UserStatus,
  provider: Type.String(),
  two_factor: Type.Boolean(),
  /** The language of its pages; empty for the one of the browser. */
  language: Type.String(),
  /** After this time the account is as if it were disabled (USER-18). */
  expires_at: nullable(Timestamp),
  sign_in: SignInState,
  created_at: Timestamp,
  last_seen_at: nullable(Timestamp),
  /** For administrators (LEGACY-1). */
  legacy: Type.Optional(Legacy),
});
export type AdminUser = Static<typeof AdminUser>;

export const listUsers = operation({
  id: 'listUsers',
  method: 'GET',
  path: '/admin/users',
  tag: 'Users',
  summary: 'List accounts',
  description:
    'Lists accounts, newest first. `q` searches username and display name; `role`, `team_id`, `provider`, `can_sign_in` and `obstacle` narrow the list. `fullname` and `email` are present, and searched, only for callers who hold `users.pii.read`.',
  door: { holds: 'users.read' },
  scope: 'read',
  query: closed({
    ...pageQuery,
    q: Type.Optional(Type.String({ maxLength: 200 })),
    status: Type.Optional(UserStatus),
    /** The code of a role. */
    role: Type.Optional(Type.String({ maxLength: 100 })),
    /** Members of this team. */
    team_id: Type.Optional(Uuid),
    /** The provider that made the account, such as `password` or `ldap`. */
    provider: Type.Optional(Type.String({ maxLength: 100 })),
    can_sign_in: Type.Optional(Type.Boolean()),
    /** Accounts that cannot sign in for this reason. */
    obstacle: Type.Optional(Obstacle),
  }),
  responses: { 200: page(AdminUser) },
  errors: [],
});

export const getAdminUser = operation({
  id: 'getAdminUser',
  method: 'GET',
  path: '/admin/users/{ref}',
  tag: 'Users',
  summary: 'Get an account',
  description:
    'Returns an account with its role, status and sign-in provider. `fullname` and `email` need `users.pii.read`.',
  door: { holds: 'users.read' },
  scope: 'read',
  params: userParams,
  responses: { 200: AdminUser },
  errors: ['not-found'],
});

export const createUser = operation({
  id: 'createUser',
  method: 'POST',
  path: '/admin/users',
  tag: 'Users',
  summary: 'Create an account',
  description:
    'Creates an account with the role `member` unless another is named. Returns 409 if the username is taken, ignoring case, and 403 if the role has capabilities that the caller lacks. Without a password the account cannot sign in until it gets one.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  body: closed({
    username: Username,
    password: Type.Optional(nullable(NewPassword)),
    fullname: Type.Optional(nullable(FullName)),
    email: Type.Optional(nullable(Email)),
    role: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  }),
  responses: { 201: AdminUser },
  errors: ['capability-not-held', 'role-not-found', 'username-taken'],
});

export const updateAdminUser = operation({
  id: 'updateAdminUser',
  method: 'PATCH',
  path: '/admin/users/{ref}',
  tag: 'Users',
  summary: 'Change an account',
  description:
    'Changes names, e-mail, language, quota and expiry of an account. After `expires_at` its sessions and tokens return 401 and it cannot sign in. Returns 403 if the account holds a capability that the caller lacks, and 400 if no administrator without expiry would be left.',
  door: { holds: 'users.write' },
  scope: 'admin',
  params: userParams,
  example: { fullname: 'Mara Lind', clear_expires_at: true },
  body: closed({
    fullname: Type.Optional(nullable(FullName)),
    display_name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }))),
    email: Type.Optional(nullable(Email)),
    language: Type.Optional(nullable(Language)),
    quota_bytes: Type.Optional(nullable(Count)),
    expires_at: Type.Optional(nullable(Timestamp)),
    clear_fullname: Removal,
    clear_display_name: Removal,
    clear_email: Removal,
    clear_language: Removal,
    clear_quota_bytes: Removal,
    clear_expires_at: Removal,
  }),
  responses: { 200: AdminUser },
  errors: [
    'account-has-more-rights',
    'exclusive-properties',
    'last-administrator',
    'not-found',
    'time-in-the-past',
  ],
});

export const setUserStatus = operation({
  id: 'setUserStatus',
  method: 'PUT',
  path: '/admin/users/{ref}/status',
  tag: 'Users',
  summary: 'Change the status of an account',
  description:
    'Only active accounts can sign in; sessions and tokens of others return 401 until the account is active again. Returns 400 if no administrator would be left.',
  door: { holds: 'users.write' },
  scope: 'admin',
  params: userParams,
  example: { status: 'disabled', reason: 'Left the studio.' },
  body: closed({ status: UserStatus, reason: Type.Optional(nullable(Type.String({ maxLength: 500 }))) }),
  responses: { 200: AdminUser },
  errors: ['account-has-more-rights', 'last-administrator', 'not-found'],
});

export const deleteUser = operation({
  id: 'deleteUser',
  method: 'DELETE',
  path: '/admin/users/{ref}',
  tag: 'Users',
  summary: 'Delete an account',
  description:
    'Removes the account and what belongs to it. Its posts, assets and comments stay without an identity. Returns 400 for the caller’s own account and for the last administrator.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: userParams,
  responses: { 204: noContent },
  errors: ['account-has-more-rights', 'cannot-delete-yourself', 'last-administrator', 'not-found'],
});

export const resetPassword = operation({
  id: 'resetPassword',
  method: 'POST',
  path: '/admin/users/{ref}/reset-password',
  tag: 'Users',
  summary: 'Reset a password',
  description:
    'Returns a temporary password, which is not shown again, ends the sessions of the account and lifts a sign-in lock. Returns 409 for an account of a directory.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: userParams,
  responses: { 200: closed({ temporary_password: Type.String() }) },
  errors: [
    'account-has-more-rights',
    'current-password-required',
    'not-found',
    'password-managed-by-directory',
  ],
});
