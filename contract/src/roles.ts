import { type Static, Type } from 'typebox';
import { capabilities } from './capabilities.ts';
import { noContent, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

const Code = Type.Enum([...capabilities]);
const userParams = closed({ ref: Ref });

export const Role = closed({
  id: Uuid,
  code: Type.String(),
  label: Type.String(),
  parent_id: nullable(Uuid),
  /** What the role confers, including what its parents confer. */
  capabilities: Type.Array(Type.String()),
});
export type Role = Static<typeof Role>;

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

export const EffectiveCapabilities = closed({
  user_ref: Ref,
  role: Type.Optional(Type.String()),
  /** The effective global capabilities. */
  capabilities: Type.Array(Type.String()),
  /**
   * Capabilities that hold in some teams only, each with those teams and all their descendants; absent if there are
   * none.
   */
  team_capabilities: Type.Optional(
    Type.Array(closed({ capability: Type.String(), team_ids: Type.Array(Uuid) })),
  ),
  grants: Type.Array(CapabilityRecord),
  revokes: Type.Array(CapabilityRecord),
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
    'Returns the effective capabilities of an account with the role, grants and revokes they come from.',
  door: { holds: 'caps.read' },
  scope: 'read',
  params: userParams,
  responses: { 200: EffectiveCapabilities },
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
  description: 'Lists every capability code of the service.',
  door: { holds: 'caps.read' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(closed({ code: Type.String(), label: Type.String() })) },
  errors: [],
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
