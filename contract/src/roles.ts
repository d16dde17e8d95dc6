import { type Static, Type } from 'typebox';
import { capabilities } from './capabilities.ts';
import { noContent, operation } from './operation.ts';
import {
  Count,
  closed,
  NameOnOneLine,
  nullable,
  page,
  pageQuery,
  Ref,
  Removal,
  Timestamp,
  Uuid,
} from './values.ts';

const Code = Type.Enum([...capabilities]);
const userParams = closed({ ref: Ref });

export const Role = closed({
  id: Uuid,
  code: Type.String(),
  label: Type.String(),
  description: Type.String(),
  parent_id: nullable(Uuid),
  /** What the role itself confers. */
  own_capabilities: Type.Array(Type.String()),
  /** What the role confers, including what its parents confer. */
  capabilities: Type.Array(Type.String()),
  /** Whether accounts with the role need a second factor; roles below it need one too (ROLE-24). */
  requires_second_factor: Type.Boolean(),
  /** Whether the role came with the library. */
  seeded: Type.Boolean(),
  /** How many accounts have the role. */
  user_count: Count,
});
export type Role = Static<typeof Role>;

/** ROLE-19: a role to start from. */
export const RoleTemplate = closed({
  code: Type.String(),
  name: Type.String(),
  description: Type.String(),
  capabilities: Type.Array(Type.String()),
});
export type RoleTemplate = Static<typeof RoleTemplate>;

/** ROLE-1: a capability code, explained. */
const CapabilityEntry = closed({
  code: Type.String(),
  label: Type.String(),
  /** The heading under which pages list the capability. */
  group: Type.String(),
  /** What a holder may do and see. */
  description: Type.String(),
});

/** A capability given to or taken from one account. With a team it applies to that team and its descendants. */
export const CapabilityRecord = closed({
  id: Uuid,
  capability: Type.String(),
  team_id: nullable(Uuid),
  note: nullable(Type.String()),
  by_user_ref: nullable(Ref),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
});
export type CapabilityRecord = Static<typeof CapabilityRecord>;

/** A capability that holds in some teams only, with those teams and all their descendants. */
export const TeamCapability = closed({ capability: Type.String(), team_ids: Type.Array(Uuid) });

export const EffectiveCapabilities = closed({
  user_ref: Ref,
  role: Type.Optional(Type.String()),
  /** The effective global capabilities. */
  capabilities: Type.Array(Type.String()),
  /**
   * Capabilities that hold in some teams only, each with those teams and all their descendants; absent if there are
   * none.
   */
  team_capabilities: Type.Optional(Type.Array(TeamCapability)),
  grants: Type.Array(CapabilityRecord),
  revokes: Type.Array(CapabilityRecord),
});

/** ROLE-24: a source of a capability, or what takes it away. */
const CapabilitySource = closed({
  capability: Type.String(),
  source: Type.Enum(['role', 'grant', 'team_role', 'revoke']),
  /** The code of the role that confers it itself: the account's role or one of its parents. */
  role: Type.Optional(Type.String()),
  /** Present if it holds in this team and the teams below it only. */
  team_id: Type.Optional(Uuid),
  expires_at: Type.Optional(Timestamp),
});
export type CapabilitySource = Static<typeof CapabilitySource>;

const ExplainedCapabilities = closed({
  ...EffectiveCapabilities.properties,
  why: Type.Array(CapabilitySource),
});

export const getMyCapabilities = operation({
  id: 'getMyCapabilities',
  method: 'GET',
  path: '/auth/me/capabilities',
  tag: 'Sign-in',
  summary: 'Get own capabilities',
  description:
    'Returns the effective capabilities with the role, grants and revokes they come from. `team_capabilities` is present only if further capabilities hold in some teams.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: EffectiveCapabilities },
  errors: [],
});

export const getUserCapabilities = operation({
  id: 'getUserCapabilities',
  method: 'GET',
  path: '/admin/users/{ref}/capabilities',
  tag: 'Roles',
  summary: 'Get the capabilities of an account',
  description:
    'Returns the effective capabilities of an account with the role, grants and revokes they come from. `why` lists every source of each capability, and the revokes that take it away.',
  door: { holds: 'caps.read' },
  scope: 'read',
  params: userParams,
  responses: { 200: ExplainedCapabilities },
  errors: ['not-found'],
});

export const listRoles = operation({
  id: 'listRoles',
  method: 'GET',
  path: '/auth/roles',
  tag: 'Roles',
  summary: 'List roles',
  description: 'Lists the roles with everything they confer, including what their parents confer.',
  door: { holds: 'roles.read' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Role) },
  errors: [],
});

export const listCapabilities = operation({
  id: 'listCapabilities',
  method: 'GET',
  path: '/auth/capabilities',
  tag: 'Roles',
  summary: 'List capabilities',
  description: 'Lists every capability code of the service with its group and what it allows.',
  door: { holds: 'caps.read' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(CapabilityEntry) },
  errors: [],
});

export const listRoleTemplates = operation({
  id: 'listRoleTemplates',
  method: 'GET',
  path: '/auth/role-templates',
  tag: 'Roles',
  summary: 'List role templates',
  description:
    'Lists roles to start from. A template is not a role: nobody has it until a role is created from it.',
  door: { holds: 'roles.read' },
  scope: 'read',
  responses: { 200: Type.Array(RoleTemplate) },
  errors: [],
});

const RoleDescription = Type.String({ maxLength: 500 });
const OwnCapabilities = Type.Array(Code, { maxItems: 100 });

/** Roles are written by holders of `roles.write`, within their own capabilities (ROLE-21). */
const writingRoles = {
  tag: 'Roles',
  door: { holds: 'roles.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
} as const;

export const RoleCreate = closed({
  code: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$', maxLength: 64 }),
  /** Read as `label`. */
  name: NameOnOneLine,
  description: Type.Optional(nullable(RoleDescription)),
  /** The code of the role whose capabilities it includes. */
  parent: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  capabilities: OwnCapabilities,
  requires_second_factor: Type.Optional(nullable(Type.Boolean())),
});
export type RoleCreate = Static<typeof RoleCreate>;

export const createRole = operation({
  ...writingRoles,
  id: 'createRole',
  method: 'POST',
  path: '/auth/roles',
  summary: 'Create a role',
  description:
    'Creates a role with these capabilities and those of its parent. Returns 403 if it has a capability that the caller lacks, and 409 if the code is taken.',
  example: {
    code: 'print-team',
    name: 'Print team',
    parent: 'member',
    capabilities: ['posts.admin'],
  },
  body: RoleCreate,
  responses: { 201: Role },
  errors: ['capability-not-held', 'role-code-taken', 'role-not-found'],
});

export const updateRole = operation({
  ...writingRoles,
  id: 'updateRole',
  method: 'PATCH',
  path: '/auth/roles/{id}',
  summary: 'Change a role',
  description:
    '`capabilities` replaces what the role itself confers. The change applies to its accounts, and to those of roles below it, from their next request. Returns 403 if the role, its parent or a role below it has or gets a capability that the caller lacks, 400 for a cycle or if no administrator would be left, and 409 for the role `admin`.',
  params: closed({ id: Uuid }),
  example: { description: 'Prints and nothing else.' },
  body: closed({
    name: Type.Optional(nullable(NameOnOneLine)),
    description: Type.Optional(nullable(RoleDescription)),
    parent: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
    clear_parent: Removal,
    capabilities: Type.Optional(nullable(OwnCapabilities)),
    requires_second_factor: Type.Optional(nullable(Type.Boolean())),
  }),
  responses: { 200: Role },
  errors: [
    'capability-not-held',
    'exclusive-properties',
    'last-administrator',
    'not-found',
    'role-not-found',
    'role-protected',
    'roles-in-cycle',
  ],
});

export const deleteRole = operation({
  ...writingRoles,
  id: 'deleteRole',
  method: 'DELETE',
  path: '/auth/roles/{id}',
  summary: 'Delete a role',
  description:
    'Returns 403 if the role has a capability that the caller lacks, and 409 for a role that accounts, other roles, invitations, identity providers or the service use.',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['capability-not-held', 'not-found', 'role-in-use', 'role-protected'],
});

export const setUserRole = operation({
  id: 'setUserRole',
  method: 'PUT',
  path: '/auth/users/{ref}/role',
  tag: 'Roles',
  summary: 'Change the role of an account',
  description:
    'Returns 403 if the old or the new role has capabilities that the caller lacks, and 400 if no administrator would be left.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: userParams,
  body: closed({ role_id: Uuid }),
  responses: { 204: noContent },
  errors: [
    'account-has-more-rights',
    'capability-not-held',
    'last-administrator',
    'not-found',
    'role-not-found',
  ],
});

export const CapabilityChange = closed({
  capability: Code,
  team_id: Type.Optional(nullable(Uuid)),
  note: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  expires_at: Type.Optional(nullable(Timestamp)),
});
export type CapabilityChange = Static<typeof CapabilityChange>;

/** Grants and revokes are created and removed by the same kind of operation. */
const putting = {
  method: 'POST',
  tag: 'Roles',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: userParams,
  body: CapabilityChange,
  responses: { 201: CapabilityRecord, 200: CapabilityRecord },
  errors: [
    'account-has-more-rights',
    'capability-not-held',
    'last-administrator',
    'not-found',
    'team-files-not-readable',
    'team-not-found',
    'time-in-the-past',
  ],
} as const;
const takingBack = { ...putting, method: 'DELETE', responses: { 204: noContent } } as const;

export const grantCapability = operation({
  ...putting,
  id: 'grantCapability',
  path: '/admin/users/{ref}/grants',
  example: { capability: 'posts.publish', expires_at: '2026-12-21T09:30:00.000Z' },
  summary: 'Grant a capability',
  description:
    'Gives an account a capability in addition to its role, optionally limited to one team with its descendants and to a time. A repeat returns 200 and updates note and expiry. Returns 403 if the caller does not hold the capability.',
});

export const removeGrant = operation({
  ...takingBack,
  id: 'removeGrant',
  path: '/admin/users/{ref}/grants',
  example: { capability: 'posts.comment' },
  summary: 'Remove a grant',
  description:
    'Removes the grant of the capability in the body. Returns 403 if the caller does not hold the capability.',
});

export const revokeCapability = operation({
  ...putting,
  id: 'revokeCapability',
  path: '/admin/users/{ref}/revokes',
  summary: 'Revoke a capability',
  description:
    'Takes a capability from an account regardless of its role and grants, optionally in one team with its descendants. A repeat returns 200 and updates note and expiry. Returns 400 if no administrator would be left.',
});

export const removeRevoke = operation({
  ...takingBack,
  id: 'removeRevoke',
  path: '/admin/users/{ref}/revokes',
  example: { capability: 'posts.comment' },
  summary: 'Remove a revoke',
  description: 'Removes the revoke of the capability in the body, so that role and grants count again.',
});
