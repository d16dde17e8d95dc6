/** ROLE-1: all capability codes. */
export const capabilities = [
  'system.admin',
  'assets.admin',
  'posts.admin',
  'posts.comment',
  'teams.read',
  'share.grant',
  'auth.impersonate',
  'system.appearance.write',
  'users.read',
  'users.write',
  'users.pii.read',
  'roles.read',
  'roles.write',
  'caps.read',
  'posts.create',
  'posts.publish',
  'posts.approve.override',
  'assets.create',
  'collections.create',
  'fields.admin',
  'fields.vocabulary.extend',
  'fields.vocabulary.merge',
  'teams.write',
  'system.config.read',
  'system.config.write',
  'system.audit.read',
  'content.read.all',
  'jobs.read',
] as const;
export type Capability = (typeof capabilities)[number];

/** TOKEN-4: the scopes of a personal access token. */
export const scopes = [
  'read',
  'posts.write',
  'assets.write',
  'comments.write',
  'fields.admin',
  'admin',
] as const;
export type TokenScope = (typeof scopes)[number];

/** `none`: no token is needed and none is checked. `session`: only a cookie session may call the operation. */
export type Scope = TokenScope | 'none' | 'session';
