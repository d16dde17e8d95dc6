import { infiniteQueryOptions, queryOptions } from '@tanstack/svelte-query';
import type { Team } from '@vitrine/contract/teams';
import { byCursor, pageParams, readToEnd } from '#lib/paging.ts';
import type { Service } from '#lib/service.ts';

/** Lists teams by name, with their counts; an empty `q` lists all. */
export function teamsQuery({ client }: Service, q: string) {
  return infiniteQueryOptions({
    queryKey: ['teams', q],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listTeams', { query: { ...pageParams(pageParam), ...(q === '' ? {} : { q }) }, signal }),
  });
}

/** Lists all teams by name, as choices. */
export function everyTeamQuery({ client }: Service) {
  return queryOptions({
    // An object, because strings are what teams are searched for.
    queryKey: ['teams', { every: true }],
    queryFn: ({ signal }) => readToEnd((page) => client.call('listTeams', { query: page, signal })),
  });
}

/** Reads one team. */
export function teamQuery({ client }: Service, id: string) {
  return queryOptions({
    queryKey: ['team', id],
    queryFn: ({ signal }) => client.call('getTeam', { params: { id }, signal }),
  });
}

/** Reads the teams with these ids in this order, omitting those that are missing or hidden from the reader. */
export function teamsOfQuery(service: Service, ids: readonly string[]) {
  return queryOptions({
    queryKey: ['teams-of', ...ids],
    queryFn: async () => {
      const read = await Promise.allSettled(
        ids.map((id) => service.queries.fetchQuery(teamQuery(service, id))),
      );
      return read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    },
  });
}

/** Lists the direct members of a team. */
export function membersQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['team-members', id],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listTeamMembers', { params: { id }, query: pageParams(pageParam), signal }),
  });
}

/** Lists the teams that the user belongs to. */
export function myTeamsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['my-teams'],
    queryFn: ({ signal }) => client.call('listMyTeams', { signal }),
  });
}

/** Lists the teams that the user follows. */
export function followedTeamsQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['followed-teams'],
    queryFn: ({ signal }) => client.call('listFollowedTeams', { signal }),
  });
}

/**
 * Lists the posts of a team, newest first. The key is under `feed`, so that processed pictures are updated there too.
 */
export function teamPostsQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['feed', { team: id }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listPosts', { query: { ...pageParams(pageParam), team_id: id }, signal }),
  });
}

/** Lists the assets of a team. */
export function teamAssetsQuery({ client }: Service, id: string) {
  return infiniteQueryOptions({
    queryKey: ['team-assets', id],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      client.call('listAssets', { query: { ...pageParams(pageParam, 60), team_id: id }, signal }),
  });
}

/** Stores a team as returned by the service and invalidates the lists that name it. */
export async function putTeam({ queries }: Service, team: Team): Promise<void> {
  queries.setQueryData<Team>(['team', team.id], team);
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['teams'] }),
    queries.invalidateQueries({ queryKey: ['followed-teams'] }),
  ]);
}

/** Reloads a team, and the lists that count or name it. */
export async function refreshTeam({ queries }: Service, id: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['team', id] }),
    queries.invalidateQueries({ queryKey: ['team-members', id] }),
    queries.invalidateQueries({ queryKey: ['teams'] }),
    queries.invalidateQueries({ queryKey: ['my-teams'] }),
  ]);
}

/** Removes a closed team from the cache. */
export async function forgetTeam({ queries }: Service, id: string): Promise<void> {
  queries.removeQueries({ queryKey: ['team', id] });
  queries.removeQueries({ queryKey: ['team-members', id] });
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['teams'] }),
    queries.invalidateQueries({ queryKey: ['my-teams'] }),
    queries.invalidateQueries({ queryKey: ['followed-teams'] }),
  ]);
}
