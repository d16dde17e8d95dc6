import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

let made = 0;

const library = await openLibrary();
const writer = await library.join('writer');
await grant(library, writer, 'teams.write');

const someone = () => {
  made += 1;
  return library.join(`somebody ${made}`, 'viewer');
};
const newTeam = (members: readonly Account[] = []) => {
  made += 1;
  return addTeam(library, `team ${made}`, members);
};
const follow = (who: Visitor, id: string) => who.ok('followTeam', { params: { id } });
const followed = async (who: Visitor) => (await who.ok('listFollowedTeams')).map(({ id }) => id);

// TEAM-10
describe('GET /auth/me/followed-teams', () => {
  // TEAM-10
  test('returns the teams that the caller follows, ordered by name without case', async () => {
    const [ann, ben] = [await someone(), await someone()];
    for (const name of ['beta', 'Alpha', 'GAMMA', 'alpha two'])
      await follow(ann, await addTeam(library, name));
    await follow(ben, await newTeam());
    const teams = await ann.ok('listFollowedTeams');
    expect(teams.map(({ name }) => name)).toEqual(['Alpha', 'alpha two', 'beta', 'GAMMA']);
    for (const team of teams) expect(team).toEqual(await ann.ok('getTeam', { params: { id: team.id } }));
  });

  // TEAM-10
  test('omits deleted teams, and includes them after their restore', async () => {
    const ann = await someone();
    const [kept, closed] = [await newTeam(), await newTeam()];
    for (const id of [kept, closed]) await follow(ann, id);
    await writer.ok('deleteTeam', { params: { id: closed } });
    expect(await followed(ann)).toEqual([kept]);
    await library.deps.db.updateTable('teams').set({ deleted_at: null }).where('id', '=', closed).execute();
    expect((await followed(ann)).sort()).toEqual([kept, closed].sort());
  });

  // TEAM-10
  test('following is not membership, and membership is not following', async () => {
    const ann = await someone();
    const [liked, joined] = [await newTeam(), await newTeam([ann])];
    await follow(ann, liked);
    expect(await followed(ann)).toEqual([liked]);
    expect((await ann.ok('listMyTeams')).map(({ id }) => id)).toEqual([joined]);
    const { items } = await ann.ok('listTeamMembers', { params: { id: liked } });
    expect(items).toEqual([]);
  });

  // HTTP-9
  test('is bounded at 200', async () => {
    const ann = await someone();
    await sql`with many as (insert into teams (slug, name)
        select 'many-' || i, 'Many ' || to_char(i, 'FM000') from generate_series(1, 230) i returning id)
      insert into team_follows (user_ref, team_id) select ${ann.ref}, id from many`.execute(library.deps.db);
    const teams = await ann.ok('listFollowedTeams');
    expect([teams.length, teams.at(0)?.name, teams.at(-1)?.name]).toEqual([200, 'Many 001', 'Many 200']);
  });
});

// TEAM-11
test('PUT and DELETE /teams/{id}/follow are idempotent, and affect only the follows of the caller', async () => {
  const [ann, ben] = [await someone(), await someone()];
  const id = await newTeam();
  await follow(ben, id);
  expect(await followed(ann)).toEqual([]);
  await Promise.all(Array.from({ length: 5 }, () => follow(ann, id)));
  expect(await followed(ann)).toEqual([id]);
  for (let i = 0; i < 2; i += 1) await ann.ok('unfollowTeam', { params: { id } });
  expect([await followed(ann), await followed(ben)]).toEqual([[], [id]]);
});
