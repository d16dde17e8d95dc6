import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, NameOnOneLine, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** TEAM-1. */
export const Team = closed({
  id: Uuid,
  slug: Type.String({ maxLength: 80 }),
  name: Type.String({ maxLength: 200 }),
  description: Type.String({ maxLength: 500 }),
  /** null: it is a team of this library (TEAM-4). */
  origin_server_id: nullable(Uuid),
  /** Absent while the chosen picture may not stand for the team. */
  hero_asset_id: Type.Optional(Uuid),
  /** Single hop; empty for root teams. */
  parents: Type.Array(closed({ parent_id: Uuid, parent_slug: Type.String(), parent_name: Type.String() })),
  /** Both on the list only. */
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
  summary: 'Teams by name, with their counts',
  door: { holds: 'teams.read' },
  scope: 'read',
  query: closed({ ...pageQuery, q: Type.Optional(Type.String({ maxLength: 200 })) }),
  responses: { 200: page(Team) },
  errors: [],
});

export const getTeam = operation({
  id: 'getTeam',
  method: 'GET',
  path: '/teams/{id}',
  tag: 'Teams',
  summary: 'One team',
  door: { holds: 'teams.read' },
  scope: 'read',
  params: idParams,
  responses: { 200: Team },
  errors: [404],
});

/** Creating, changing and deleting ask for teams.write, also for a team alone; so their door is the handler's. */
export const createTeam = operation({
  id: 'createTeam',
  method: 'POST',
  path: '/teams',
  tag: 'Teams',
  summary: 'Create a team (teams.write); without a slug one is made of the name',
  door: { holds: 'teams.write' },
  scope: 'admin',
  body: closed({
    name: NameOnOneLine,
    slug: Type.Optional(nullable(Slug)),
    description: Type.Optional(nullable(Description)),
  }),
  responses: { 201: Team },
  errors: [409],
});

export const updateTeam = operation({
  id: 'updateTeam',
  method: 'PATCH',
  path: '/teams/{id}',
  tag: 'Teams',
  summary: 'Change a team (teams.write, for this team at least)',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  body: closed({
    name: Type.Optional(nullable(NameOnOneLine)),
    slug: Type.Optional(nullable(Slug)),
    description: Type.Optional(nullable(Description)),
  }),
  responses: { 200: Team },
  errors: [404, 409],
});

export const deleteTeam = operation({
  id: 'deleteTeam',
  method: 'DELETE',
  path: '/teams/{id}',
  tag: 'Teams',
  summary: 'Close a team (teams.write); its content stays',
  door: { holds: 'teams.write' },
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const TeamMember = closed({ user_ref: Ref, user: Type.Optional(PostAuthor), joined_at: Timestamp });

export const listTeamMembers = operation({
  id: 'listTeamMembers',
  method: 'GET',
  path: '/teams/{id}/members',
  tag: 'Teams',
  summary: 'Direct members of a team',
  door: { holds: 'teams.read' },
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(TeamMember) },
  errors: [404],
});

export const addTeamMember = operation({
  id: 'addTeamMember',
  method: 'PUT',
  path: '/teams/{id}/members/{user_ref}',
  tag: 'Teams',
  summary: 'Make somebody a member (teams.write, for this team at least)',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  params: memberParams,
  responses: { 204: noContent },
  errors: [404],
});

export const removeTeamMember = operation({
  id: 'removeTeamMember',
  method: 'DELETE',
  path: '/teams/{id}/members/{user_ref}',
  tag: 'Teams',
  summary: 'End a membership: teams.write, or the member',
  door: 'signedIn',
  scope: 'admin',
  params: memberParams,
  responses: { 204: noContent },
  errors: [404],
});

export const followTeam = operation({
  id: 'followTeam',
  method: 'PUT',
  path: '/teams/{id}/follow',
  tag: 'Teams',
  summary: 'Follow a team; following is not membership',
  door: { holds: 'teams.read' },
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const unfollowTeam = operation({
  id: 'unfollowTeam',
  method: 'DELETE',
  path: '/teams/{id}/follow',
  tag: 'Teams',
  summary: 'Follow a team no longer',
  door: { holds: 'teams.read' },
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const addTeamParent = operation({
  id: 'addTeamParent',
  method: 'PUT',
  path: '/teams/{id}/parents/{parent_id}',
  tag: 'Teams',
  summary: 'Put a team below another (teams.write); a circle is 400',
  door: { holds: 'teams.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: parentParams,
  responses: { 204: noContent },
  errors: [404],
});

export const removeTeamParent = operation({
  id: 'removeTeamParent',
  method: 'DELETE',
  path: '/teams/{id}/parents/{parent_id}',
  tag: 'Teams',
  summary: 'Take a team from below another (teams.write)',
  door: { holds: 'teams.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: parentParams,
  responses: { 204: noContent },
  errors: [404],
});

export const setTeamHero = operation({
  id: 'setTeamHero',
  method: 'PUT',
  path: '/teams/{id}/hero',
  tag: 'Teams',
  summary: 'Choose the team’s picture: a public asset of the team; null takes it away',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  body: closed({ asset_id: nullable(Uuid) }),
  responses: { 200: Team },
  errors: [404],
});

export const listMyTeams = operation({
  id: 'listMyTeams',
  method: 'GET',
  path: '/auth/me/teams',
  tag: 'Teams',
  summary: 'Teams the caller is a member of, by name',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: Type.Array(Team) },
  errors: [],
});

/** TEAM-10. */
export const listFollowedTeams = operation({
  id: 'listFollowedTeams',
  method: 'GET',
  path: '/auth/me/followed-teams',
  tag: 'Teams',
  summary: 'Teams the caller follows, by name',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: Type.Array(Team) },
  errors: [],
});
