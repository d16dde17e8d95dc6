import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let root: Account;
let writer: Account;
let made = 0;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  writer = await arrive(library, 'writer');
  await grant(library, writer, 'teams.write');
});

const someone = () => {
  made += 1;
  return arrive(library, `somebody ${made}`, 'viewer');
};
const newTeam = (members: readonly Account[] = []) => {
  made += 1;
  return addTeam(library, `team ${made}`, members);
};
const follow = (who: Visitor, id: string) => who.ok('followTeam', { params: { id } });
const followed = async (who: Visitor) => (await who.ok('listFollowedTeams')).map(({ id }) => id);
const statusOf = async (visitor: Visitor, method: string, path: string) =>
  (await visitor.send(path, { method })).status;

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

  test('is empty for a caller without follows', async () => {
    expect(await (await someone()).ok('listFollowedTeams')).toEqual([]);
  });

  test('returns 401 to anonymous callers, requires the scope read of tokens, and lists those of an impersonated account', async () => {
    const ann = await someone();
    const id = await newTeam();
    await follow(ann, id);
    expect((await library.anonymous().refused('listFollowedTeams')).status).toBe(401);
    await library.setPublicMode(true);
    expect((await library.anonymous().refused('listFollowedTeams')).status).toBe(401);
    await library.setPublicMode(false);
    expect(await followed(await bearer(library, ann, ['read']))).toEqual([id]);
    const narrow = await bearer(library, ann, ['posts.write']);
    expect(await narrow.refused('listFollowedTeams')).toEqual({ status: 403, error: 'missing scope read' });
    expect(await followed(await actAs(library, root, ann))).toEqual([id]);
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

describe('PUT and DELETE /teams/{id}/follow', () => {
  // TEAM-11
  test('are idempotent', async () => {
    const ann = await someone();
    const id = await newTeam();
    await Promise.all(Array.from({ length: 5 }, () => follow(ann, id)));
    expect(await followed(ann)).toEqual([id]);
    for (let i = 0; i < 2; i += 1) await ann.ok('unfollowTeam', { params: { id } });
    expect(await followed(ann)).toEqual([]);
  });

  test('affect only the follows of the caller', async () => {
    const [ann, ben] = [await someone(), await someone()];
    const id = await newTeam();
    await follow(ann, id);
    await follow(ben, id);
    await ann.ok('unfollowTeam', { params: { id } });
    expect(await followed(ben)).toEqual([id]);
  });

  // TEAM-11
  test('returns 404 for an unknown team, 400 for a malformed id, 403 without teams.read, 401 to anonymous callers', async () => {
    const id = await newTeam();
    const outsider = await someone();
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: outsider.ref, capability: 'teams.read' })
      .execute();
    const ann = await someone();
    const cases: [Visitor, string, number][] = [
      [ann, nowhere, 404],
      [ann, 'print', 400],
      [outsider, id, 403],
      [await bearer(library, ann, ['read']), id, 403],
      [await bearer(library, ann, ['admin']), id, 204],
      [library.anonymous(), id, 401],
    ];
    for (const method of ['PUT', 'DELETE']) {
      for (const [visitor, team, due] of cases)
        expect([method, team, await statusOf(visitor, method, `/teams/${team}/follow`)]).toEqual([
          method,
          team,
          due,
        ]);
    }
  });
});

describe('GET /posts?team_id: a team’s channel', () => {
  // TEAM-7
  test('lists the readable posts of the team, without those of parents and children', async () => {
    const author = await arrive(library, 'author');
    const [team, above, below] = [await newTeam([author]), await newTeam([author]), await newTeam([author])];
    await writer.ok('addTeamParent', { params: { id: team, parent_id: above } });
    await writer.ok('addTeamParent', { params: { id: below, parent_id: team } });
    const asset = await upload(author, plainFile());
    const shown = await publish(author, [asset], { team_id: team });
    const open = await publish(author, [asset], { team_id: team, visibility: 'public' });
    const own = await publish(author, [asset], { team_id: team, visibility: 'private' });
    const draft = await publish(author, [asset], { team_id: team, draft: true });
    const deleted = await publish(author, [asset], { team_id: team });
    await author.ok('deletePost', { params: { id: deleted.id }, body: undefined });
    const parental = await publish(author, [asset], { team_id: above });
    await publish(author, [asset], { team_id: below });
    await publish(author, [asset]);
    const channel = async (who: Visitor, team_id = team, more: { draft?: boolean } = {}) =>
      (await who.ok('listPosts', { query: { team_id, ...more } })).items.map(({ id }) => id);
    const fan = await someone();
    await follow(fan, team);
    expect(await channel(fan)).toEqual([open.id, shown.id]);
    expect(await channel(await someone())).toEqual([open.id, shown.id]);
    expect(await channel(author)).toEqual([own.id, open.id, shown.id]);
    expect(await channel(root)).toEqual([own.id, open.id, shown.id]);
    expect(await channel(author, team, { draft: true })).toEqual([draft.id]);
    expect(await channel(fan, team, { draft: true })).toEqual([]);
    expect(await channel(fan, above)).toEqual([parental.id]);
    expect(await channel(fan, nowhere)).toEqual([]);
    expect((await library.anonymous().refused('listPosts', { query: { team_id: team } })).status).toBe(401);
    await library.setPublicMode(true);
    expect(await channel(library.anonymous())).toEqual([open.id]);
    await library.setPublicMode(false);
    expect(await statusOf(fan, 'GET', '/posts?team_id=print')).toBe(400);
  });
});
