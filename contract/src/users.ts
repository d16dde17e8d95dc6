import { type Static, Type } from 'typebox';
import { NewPassword, Username } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, Email, nullable, page, pageQuery, Ref, Removal, Timestamp, Uuid } from './values.ts';

const userParams = closed({ ref: Ref });

/** A profile as others see it (USER-1). */
export const UserProfile = closed({
  ref: Ref,
  username: Type.String(),
  display_name: Type.String({ minLength: 1 }),
  /** Never to anonymous callers. */
  fullname: Type.Optional(nullable(Type.String())),
  bio: Type.String(),
  avatar_url: nullable(Type.String()),
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
  summary: 'A profile',
  door: 'public',
  scope: 'read',
  params: userParams,
  responses: { 200: UserProfile },
  errors: [404],
});

export const getUserByUsername = operation({
  id: 'getUserByUsername',
  method: 'GET',
  path: '/users/by-username/{username}',
  tag: 'Users',
  summary: 'A profile by its handle, whatever its case',
  door: 'public',
  scope: 'read',
  params: closed({ username: Type.String({ minLength: 1, maxLength: 500 }) }),
  responses: { 200: UserProfile },
  errors: [404],
});

const FullName = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

export const updateUser = operation({
  id: 'updateUser',
  method: 'PATCH',
  path: '/users/{ref}',
  tag: 'Users',
  summary: 'Change a profile: one’s own, or anybody’s with users.write',
  door: 'signedIn',
  scope: 'admin',
  params: userParams,
  body: closed({
    display_name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }))),
    bio: Type.Optional(nullable(Type.String({ maxLength: 5000 }))),
    fullname: Type.Optional(nullable(FullName)),
    email: Type.Optional(nullable(Email)),
    hide_from_anonymous: Type.Optional(nullable(Type.Boolean())),
    avatar_asset_id: Type.Optional(nullable(Uuid)),
    clear_display_name: Removal,
    clear_fullname: Removal,
    clear_email: Removal,
    clear_avatar: Removal,
  }),
  responses: { 200: UserProfile },
  errors: [404],
});

/** One's own account, with what a profile does not tell others. */
export const AccountProfile = closed({
  ref: Ref,
  username: Type.String(),
  display_name: nullable(Type.String()),
  fullname: nullable(Type.String()),
  email: nullable(Type.String()),
  bio: Type.String(),
  hide_from_anonymous: Type.Boolean(),
  avatar_asset_id: nullable(Uuid),
  avatar_url: nullable(Type.String()),
  /** `password`, or the directory that keeps this account's password. */
  provider: Type.String(),
  created_at: Timestamp,
});
export type AccountProfile = Static<typeof AccountProfile>;

export const getAccountProfile = operation({
  id: 'getAccountProfile',
  method: 'GET',
  path: '/account/profile',
  tag: 'Account',
  summary: 'One’s own account as it can be edited',
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
  summary: 'Change one’s password; every other session ends',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  body: closed({ current_password: Type.String({ maxLength: 1000 }), new_password: NewPassword }),
  responses: { 204: noContent },
  errors: [409],
});

const followState = { 204: noContent };

export const getUserFollow = operation({
  id: 'getUserFollow',
  method: 'GET',
  path: '/users/{ref}/follow',
  tag: 'Users',
  summary: 'Whether the caller follows somebody',
  door: 'signedIn',
  scope: 'read',
  params: userParams,
  responses: { 200: closed({ following: Type.Boolean() }) },
  errors: [404],
});

export const followUser = operation({
  id: 'followUser',
  method: 'POST',
  path: '/users/{ref}/follow',
  tag: 'Users',
  summary: 'Follow somebody',
  door: 'signedIn',
  scope: 'admin',
  params: userParams,
  responses: followState,
  errors: [404],
});

export const unfollowUser = operation({
  id: 'unfollowUser',
  method: 'DELETE',
  path: '/users/{ref}/follow',
  tag: 'Users',
  summary: 'Follow somebody no longer',
  door: 'signedIn',
  scope: 'admin',
  params: userParams,
  responses: followState,
  errors: [404],
});

export const UserStatus = Type.Enum(['active', 'pending', 'disabled', 'archived']);
export type UserStatus = Static<typeof UserStatus>;

/** An account as administrators see it; `fullname` and `email` only with users.pii.read. */
export const AdminUser = closed({
  ref: Ref,
  username: Type.String(),
  display_name: Type.String(),
  fullname: Type.Optional(nullable(Type.String())),
  email: Type.Optional(nullable(Type.String())),
  role: Type.String(),
  status: UserStatus,
  provider: Type.String(),
  two_factor: Type.Boolean(),
  created_at: Timestamp,
  last_seen_at: nullable(Timestamp),
});
export type AdminUser = Static<typeof AdminUser>;

export const listUsers = operation({
  id: 'listUsers',
  method: 'GET',
  path: '/admin/users',
  tag: 'Users',
  summary: 'Accounts, newest first',
  door: { holds: 'users.read' },
  scope: 'read',
  query: closed({
    ...pageQuery,
    q: Type.Optional(Type.String({ maxLength: 200 })),
    status: Type.Optional(UserStatus),
  }),
  responses: { 200: page(AdminUser) },
  errors: [],
});

export const getAdminUser = operation({
  id: 'getAdminUser',
  method: 'GET',
  path: '/admin/users/{ref}',
  tag: 'Users',
  summary: 'An account',
  door: { holds: 'users.read' },
  scope: 'read',
  params: userParams,
  responses: { 200: AdminUser },
  errors: [404],
});

export const createUser = operation({
  id: 'createUser',
  method: 'POST',
  path: '/admin/users',
  tag: 'Users',
  summary: 'Create an account',
  door: { holds: 'users.write' },
  scope: 'admin',
  body: closed({
    username: Username,
    password: Type.Optional(nullable(NewPassword)),
    fullname: Type.Optional(nullable(FullName)),
    email: Type.Optional(nullable(Email)),
    role: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  }),
  responses: { 201: AdminUser },
  errors: [404, 409],
});

export const setUserStatus = operation({
  id: 'setUserStatus',
  method: 'PUT',
  path: '/admin/users/{ref}/status',
  tag: 'Users',
  summary: 'Let an account in, or keep it out',
  door: { holds: 'users.write' },
  scope: 'admin',
  params: userParams,
  body: closed({ status: UserStatus, reason: Type.Optional(nullable(Type.String({ maxLength: 500 }))) }),
  responses: { 200: AdminUser },
  errors: [404],
});

export const deleteUser = operation({
  id: 'deleteUser',
  method: 'DELETE',
  path: '/admin/users/{ref}',
  tag: 'Users',
  summary: 'Delete an account for good; what it made stays, without an identity',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: userParams,
  responses: { 204: noContent },
  errors: [404],
});

export const resetPassword = operation({
  id: 'resetPassword',
  method: 'POST',
  path: '/admin/users/{ref}/reset-password',
  tag: 'Users',
  summary: 'Give an account a new password, shown this once; its sessions end',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: userParams,
  responses: { 200: closed({ temporary_password: Type.String() }) },
  errors: [404, 409],
});
