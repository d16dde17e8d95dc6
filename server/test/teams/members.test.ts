import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { actAs, grant, nowhere, revoke } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let made = 0;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const writer = await library.join('writer');
await grant(library, writer, ['teams.write', 'content.read.all']);
const [ann, ben] = await library.joinAll('ann', 'ben');

const newTeam = async (members: readonly Account[] = []) => {
  made += 1;
  return addTeam(library, `team ${made}`, members);
};

const refsOf = async (id: string) =>
  (await ann.ok('listTeamMembers', { params: { id } })).items.map(({ user_ref }) => user_ref);
const myTeams = async (visitor: Visitor) => (await visitor.ok('listMyTeams')).map(({ id }) => id);
const eventsOf = (id: string) => auditEvents(library, { target_id: id });

describe('PUT /teams/{id}/members/{user_ref}', () => {
  // TEAM-9
  test('is idempotent', async () => {
    const id = await newTeam();
    const params = { id, user_ref: ann.ref };
    await writer.ok('addTeamMember', { params });
    await writer.ok('addTeamMember', { params });
    await Promise.all(Array.from({ length: 5 }, () => root.ok('addTeamMember', { params })));
    expect(await refsOf(id)).toEqual([ann.ref]);
    expect(await eventsOf(id)).toMatchObject([
      { event: 'team.member.added', actor_user_ref: writer.ref, subject_user_ref: ann.ref },
    ]);
  });

  test('returns 404 for an unknown team or account', async () => {
    const id = await newTeam();
    expect(await writer.refused('addTeamMember', { params: { id, user_ref: 999_999 } })).toEqual({
      status: 404,
      error: 'user not found',
    });
    expect(await writer.status('PUT', `/teams/${nowhere}/members/${ann.ref}`)).toBe(404);
  });

  // TEAM-9
  test('refuses the account of the caller, and impersonators', async () => {
    const id = await newTeam([ben]);
    for (const who of [ann, ben])
      expect(await who.status('PUT', `/teams/${id}/members/${who.ref}`)).toBe(403);
    const mask = await actAs(library, root, writer);
    expect(await mask.refused('addTeamMember', { params: { id, user_ref: ann.ref } })).toEqual({
      status: 403,
      error: 'not allowed while acting as another user',
    });
    expect(await refsOf(id)).toEqual([ben.ref]);
  });
});

// TEAM-9, NOTICE-18
test('the members of a team are notified of a new one, and so is the new one', async () => {
  const [cleo, dana] = await library.joinAll('cleo', 'dana');
  const id = await newTeam([cleo]);
  const news = async (who: Visitor) => {
    await library.runJobs();
    return (await who.ok('listNotifications')).items;
  };
  await writer.ok('addTeamMember', { params: { id, user_ref: dana.ref } });
  const { name } = await ann.ok('getTeam', { params: { id } });
  for (const who of [cleo, dana])
    expect(await news(who)).toMatchObject([
      {
        kind: 'team_member_added',
        actor: { username: 'writer' },
        member: { username: 'dana' },
        team: { id, name },
      },
    ]);
  expect(await news(writer)).toEqual([]);
  // Somebody who leaves and comes back is announced again; those who left are told nothing any more.
  await dana.status('DELETE', `/teams/${id}/members/${dana.ref}`);
  expect(await news(dana)).toEqual([]);
  await writer.ok('addTeamMember', { params: { id, user_ref: dana.ref } });
  expect(await news(cleo)).toHaveLength(2);
});

// TEAM-9
test('DELETE ends a membership; members may leave, but not remove others', async () => {
  const leaver = await library.join('leaver');
  const id = await newTeam([ann, ben, leaver]);
  const remove = (who: Visitor, { ref }: { ref: number }) =>
    who.status('DELETE', `/teams/${id}/members/${ref}`);
  expect([await remove(writer, ann), await remove(writer, ann)]).toEqual([204, 404]);
  expect(await remove(ben, leaver)).toBe(403);
  expect(await eventsOf(id)).toMatchObject([
    { event: 'team.member.removed', actor_user_ref: writer.ref, subject_user_ref: ann.ref },
  ]);
  // Leaving does not require teams.read.
  await revoke(library, leaver, 'teams.read');
  expect([await remove(leaver, leaver), await remove(leaver, leaver)]).toEqual([204, 404]);
  expect(await refsOf(id)).toEqual([ben.ref]);
});

describe('GET /teams/{id}/members', () => {
  test('lists direct members only', async () => {
    const [above, id, below] = [await newTeam([root]), await newTeam([ann]), await newTeam([ben])];
    await writer.ok('addTeamParent', { params: { id, parent_id: above } });
    await writer.ok('addTeamParent', { params: { id: below, parent_id: id } });
    expect(await ben.ok('listTeamMembers', { params: { id } })).toEqual({
      items: [
        {
          user_ref: ann.ref,
          user: { ref: ann.ref, username: 'ann', display_name: 'ann', avatar_url: null },
          role: 'member',
          joined_at: expect.any(String),
        },
      ],
      next_cursor: null,
    });
  });

  test('pages contain each member once, by 50', async () => {
    const id = await newTeam();
    await sql`with people as (
        insert into users (username, role_id) select 'crowd ' || i, r.id
        from generate_series(1, 51) i, roles r where r.code = 'viewer' returning ref)
      insert into team_members (team_id, user_ref)
      select ${id}::uuid, ref from people`.execute(library.deps.db);
    const pages = await pagesOf((query) => ann.ok('listTeamMembers', { params: { id }, query }));
    expect(pages.map(({ length }) => length)).toEqual([50, 1]);
    const refs = pages.flat().map(({ user_ref }) => user_ref);
    expect(refs).toEqual([...new Set(refs)].sort((a, b) => a - b));
  });
});

describe('GET /auth/me/teams', () => {
  // TEAM-10
  test('lists the memberships of the caller by name, ignoring case', async () => {
    const me = await library.join('me');
    for (const name of ['beta', 'Alpha', 'GAMMA', 'alpha two']) await addTeam(library, name, [me]);
    await newTeam([ben]);
    const teams = await me.ok('listMyTeams');
    expect(teams.map(({ name }) => name)).toEqual(['Alpha', 'alpha two', 'beta', 'GAMMA']);
    expect(teams[0]).toEqual(await me.ok('getTeam', { params: { id: teams[0]?.id ?? nowhere } }));
  });

  test('omits deleted teams, and parents and children', async () => {
    const me = await library.join('me too');
    const [id, closed] = [await newTeam([me]), await newTeam([me])];
    const [above, below] = [await newTeam(), await newTeam()];
    await writer.ok('addTeamParent', { params: { id, parent_id: above } });
    await writer.ok('addTeamParent', { params: { id: below, parent_id: id } });
    await writer.ok('deleteTeam', { params: { id: closed } });
    expect(await myTeams(me)).toEqual([id]);
  });
});

test('the team’s assets are visible from the request after joining on, until the membership ends', async () => {
  const owner = await library.join('owner');
  const id = await newTeam([owner]);
  const asset = await upload(owner, plainFile(), { sensitivity: 'team', team_id: id });
  const isShown = async () => !(await ann.ok('getAsset', { params: { id: asset.id } })).restricted;
  const params = { id, user_ref: ann.ref };
  expect(await isShown()).toBe(false);
  await ann.ok('followTeam', { params: { id } });
  expect(await isShown()).toBe(false);
  await writer.ok('addTeamMember', { params });
  expect(await isShown()).toBe(true);
  await ann.ok('removeTeamMember', { params });
  expect(await isShown()).toBe(false);
});
