import { type Static, Type } from 'typebox';
import { Origin } from './federation.ts';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, NameOnOneLine, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** TEAM-1. */
export const Team = closed({
  id: Uuid,
  slug: Type.String({ maxLength: 80 }),
  name: Type.String({ maxLength: 200 }),
  description: Type.String({ maxLength: 500 }),
  /** Null for a team of this library (TEAM-4). */
  origin_server_id: nullable(Uuid),
  /** The library of a mirrored team. */
  origin: Type.Optional(Origin),
  /** Absent while the chosen picture is not eligible. */
  hero_asset_id: Type.Optional(Uuid),
  /** Direct parents; empty for root teams. */
  parents: Type.Array(closed({ parent_id: Uuid, parent_slug: Type.String(), parent_name: Type.String() })),
  /** Both appear in the list only. */
  member_count: Type.Optional(Count),
  content_count: Type.Optional(Count),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Team = Static<typeof Team>;

const Slug = Type.String({ minLength: 1, maxLength: 80, pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' });
const Description = Type.String({ maxLength: 500 });

const idParams = closed({ id: Uuid });
const memberParams = closed({ id: Uuid, user_ref: Ref });
const parentParams = closed({ id: Uuid, parent_id: Uuid });

export const listTeams = operation({
  id: 'listTeams',
  method: 'GET',
  path: '/teams',
  tag: 'Teams',
  summary: 'List teams',
  description: 'Lists teams by name with their member and content counts.',
  door: { holds: 'teams.read' },
  scope: 'read',
  query: closed({ ...pageQuery, q: Type.Optional(Type.String({ maxLength: 200 })) }),
  replica: true,
  responses: { 200: page(Team) },
  errors: [],
});

export const getTeam = operation({
  id: 'getTeam',
  method: 'GET',
  path: '/teams/{id}',
  tag: 'Teams',
  summary: 'Get a team',
  description:
    'Returns a team with its direct parents. `hero_asset_id` is absent while the chosen picture is not eligible.',
  door: { holds: 'teams.read' },
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: Team },
  errors: ['not-found'],
});

/**
 * Creating, changing and deleting need teams.write, which may be granted for one team. The handler therefore checks
 * it.
 */
export const createTeam = operation({
  id: 'createTeam',
  method: 'POST',
  path: '/teams',
  tag: 'Teams',
  summary: 'Create a team',
  description:
    'The creator becomes its first member. Without a slug, one is derived from the name. Returns 409 if the slug is taken.',
  door: { holds: 'teams.write' },
  scope: 'admin',
  example: { name: 'Photography', description: 'Everyone with a camera.' },
  body: closed({
    name: NameOnOneLine,
    slug: Type.Optional(nullable(Slug)),
    description: Type.Optional(nullable(Description)),
  }),
  responses: { 201: Team },
  errors: ['slug-taken'],
});

export const updateTeam = operation({
  id: 'updateTeam',
  method: 'PATCH',
  path: '/teams/{id}',
  tag: 'Teams',
  summary: 'Change a team',
  description:
    'Needs `teams.write` globally, for this team or for an ancestor. Returns 409 if the slug is taken.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  example: { description: 'Everyone with a camera.' },
  body: closed({
    name: Type.Optional(nullable(NameOnOneLine)),
    slug: Type.Optional(nullable(Slug)),
    description: Type.Optional(nullable(Description)),
  }),
  responses: { 200: Team },
  errors: ['capability-missing', 'exclusive-properties', 'not-found', 'slug-taken'],
});

export const deleteTeam = operation({
  id: 'deleteTeam',
  method: 'DELETE',
  path: '/teams/{id}',
  tag: 'Teams',
  summary: 'Delete a team',
  description: 'Removes the team from every list. It keeps what it owns.',
  door: { holds: 'teams.write' },
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** TEAM-16: what members may do in the team, the most first. */
export const teamRoles = ['lead', 'member', 'contributor', 'viewer'] as const;
export type TeamRole = (typeof teamRoles)[number];
const TeamRole = Type.Enum([...teamRoles]);

export const TeamMember = closed({
  user_ref: Ref,
  user: Type.Optional(PostAuthor),
  role: TeamRole,
  joined_at: Timestamp,
});
export type TeamMember = Static<typeof TeamMember>;

export const listTeamMembers = operation({
  id: 'listTeamMembers',
  method: 'GET',
  path: '/teams/{id}/members',
  tag: 'Teams',
  summary: 'List the members of a team',
  description: 'Lists direct members, without those of child teams.',
  door: { holds: 'teams.read' },
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(TeamMember) },
  errors: ['not-found'],
});

export const addTeamMember = operation({
  id: 'addTeamMember',
  method: 'PUT',
  path: '/teams/{id}/members/{user_ref}',
  tag: 'Teams',
  summary: 'Add a member to a team',
  description:
    'Idempotent. A new member is a `member` unless `role` is another; without `role`, an existing member keeps theirs. Needs `teams.write` globally, for this team or for an ancestor, or the role `lead` in it. Returns 403 to callers who add or change themselves. The members are notified of a new one.',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  params: memberParams,
  example: { role: 'contributor' },
  body: closed({ role: Type.Optional(nullable(TeamRole)) }),
  bodyOptional: true,
  responses: { 204: noContent },
  errors: [
    'cannot-add-yourself-to-team',
    'capability-missing',
    'not-found',
    'team-rights-not-held',
    'user-not-found',
  ],
});

export const removeTeamMember = operation({
  id: 'removeTeamMember',
  method: 'DELETE',
  path: '/teams/{id}/members/{user_ref}',
  tag: 'Teams',
  summary: 'Remove a member from a team',
  description:
    'Needs `teams.write` globally, for this team or for an ancestor. Members may remove themselves.',
  door: 'signedIn',
  scope: 'admin',
  params: memberParams,
  responses: { 204: noContent },
  errors: ['capability-missing', 'not-found'],
});

export const followTeam = operation({
  id: 'followTeam',
  method: 'PUT',
  path: '/teams/{id}/follow',
  tag: 'Teams',
  summary: 'Follow a team',
  description: 'Idempotent. Following is not membership.',
  door: { holds: 'teams.read' },
  scope: 'admin',
  params: idParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const unfollowTeam = operation({
  id: 'unfollowTeam',
  method: 'DELETE',
  path: '/teams/{id}/follow',
  tag: 'Teams',
  summary: 'Unfollow a team',
  description: 'Idempotent.',
  door: { holds: 'teams.read' },
  scope: 'admin',
  params: idParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const addTeamParent = operation({
  id: 'addTeamParent',
  method: 'PUT',
  path: '/teams/{id}/parents/{parent_id}',
  tag: 'Teams',
  summary: 'Put a team below another',
  description:
    'Idempotent. Returns 400 for a cycle and for a graph of more than 20 levels, and 403 if it would open files of the teams above that the caller may not read, or give capabilities in the team that the caller lacks.',
  door: { holds: 'teams.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: parentParams,
  responses: { 204: noContent },
  errors: [
    'not-found',
    'team-files-not-readable',
    'team-rights-not-held',
    'teams-in-cycle',
    'teams-too-deep',
  ],
});

export const removeTeamParent = operation({
  id: 'removeTeamParent',
  method: 'DELETE',
  path: '/teams/{id}/parents/{parent_id}',
  tag: 'Teams',
  summary: 'Remove a parent of a team',
  description:
    'Idempotent. Grants and revokes for the parent no longer reach the team. Returns 403 if that gives capabilities that the caller lacks.',
  door: { holds: 'teams.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: parentParams,
  responses: { 204: noContent },
  errors: ['not-found', 'team-rights-not-held'],
});

export const setTeamHero = operation({
  id: 'setTeamHero',
  method: 'PUT',
  path: '/teams/{id}/hero',
  tag: 'Teams',
  summary: 'Choose the picture of a team',
  description:
    'Accepts a public asset of the team; any other asset returns 404. Null removes the picture. Needs `teams.write` for the team.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  body: closed({ asset_id: nullable(Uuid) }),
  responses: { 200: Team },
  errors: ['capability-missing', 'not-found', 'team-asset-not-found'],
});

export const listMyTeams = operation({
  id: 'listMyTeams',
  method: 'GET',
  path: '/auth/me/teams',
  tag: 'Teams',
  summary: 'List own teams',
  description: 'Lists the teams of which the caller is a direct member, by name.',
  door: 'signedIn',
  scope: 'read',
  replica: true,
  responses: { 200: Type.Array(Team) },
  errors: [],
});

/** TEAM-10. */
export const listFollowedTeams = operation({
  id: 'listFollowedTeams',
  method: 'GET',
  path: '/auth/me/followed-teams',
  tag: 'Teams',
  summary: 'List followed teams',
  description: 'Lists the teams that the caller follows, by name.',
  door: 'signedIn',
  scope: 'read',
  replica: true,
  responses: { 200: Type.Array(Team) },
  errors: [],
});
