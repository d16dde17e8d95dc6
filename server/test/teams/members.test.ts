import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let root: Account;
let writer: Account;
let ann: Account;
let ben: Account;
let made = 0;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  writer = await arrive(library, 'writer');
  await grant(library, writer, 'teams.write');
  ann = await arrive(library, 'ann');
  ben = await arrive(library, 'ben');
});

const newTeam = async (members: readonly Account[] = []) => {
  made += 1;
  return addTeam(library, `team ${made}`, members);
};
const statusOf = async (visitor: Visitor, method: string, path: string) =>
  (await visitor.send(path, { method })).status;
const refsOf = async (id: string) =>
  (await ann.ok('listTeamMembers', { params: { id } })).items.map(({ user_ref }) => user_ref);
const myTeams = async (visitor: Visitor) => (await visitor.ok('listMyTeams')).map(({ id }) => id);
const eventsOf = (id: string) =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'subject_user_ref'])
    .where('target_id', '=', id)
    .orderBy('occurred_at')
    .execute();

describe('PUT /teams/{id}/members/{user_ref}', () => {
  // TEAM-9
  test('is idempotent', async () => {
    const id = await newTeam();
    const params = { id, user_ref: ann.ref };
    await writer.ok('addTeamMember', { params });
    await writer.ok('addTeamMember', { params });
    await Promise.all(Array.from({ length: 10 }, () => root.ok('addTeamMember', { params })));
    expect(await refsOf(id)).toEqual([ann.ref]);
    expect(await eventsOf(id)).toEqual([
      { event: 'team.member.added', actor_user_ref: writer.ref, subject_user_ref: ann.ref },
    ]);
  });

  test('returns 404 for an unknown team or account, 400 for malformed ids', async () => {
    const id = await newTeam();
    expect(await writer.refused('addTeamMember', { params: { id, user_ref: 999_999 } })).toEqual({
      status: 404,
      error: 'user not found',
    });
    expect(await statusOf(writer, 'PUT', `/teams/${nowhere}/members/${ann.ref}`)).toBe(404);
    for (const path of [
      `${id}/members/1.0`,
      `${id}/members/ann`,
      `${id}/members/1.5`,
      `print/members/${ann.ref}`,
    ])
      expect([path, await statusOf(writer, 'PUT', `/teams/${path}`)]).toEqual([path, 400]);
  });

  // TEAM-9
  test('refuses the account of the caller', async () => {
    const id = await newTeam([ben]);
    for (const who of [ann, ben])
      expect(await statusOf(who, 'PUT', `/teams/${id}/members/${who.ref}`)).toBe(403);
    expect(await refsOf(id)).toEqual([ben.ref]);
  });

  test('is refused for impersonators', async () => {
    const id = await newTeam();
    const mask = await actAs(library, root, writer);
    expect(await mask.refused('addTeamMember', { params: { id, user_ref: ann.ref } })).toEqual({
      status: 403,
      error: 'not allowed while acting as another user',
    });
    expect(await refsOf(id)).toEqual([]);
  });
});

describe('DELETE /teams/{id}/members/{user_ref}', () => {
  test('ends a membership', async () => {
    const id = await newTeam([ann, ben]);
    await writer.ok('removeTeamMember', { params: { id, user_ref: ann.ref } });
    expect(await refsOf(id)).toEqual([ben.ref]);
    expect(await statusOf(writer, 'DELETE', `/teams/${id}/members/${ann.ref}`)).toBe(404);
    expect(await eventsOf(id)).toEqual([
      { event: 'team.member.removed', actor_user_ref: writer.ref, subject_user_ref: ann.ref },
    ]);
  });

  // TEAM-9
  test('lets members leave, and returns 404 to others', async () => {
    const id = await newTeam([ann]);
    await ann.ok('removeTeamMember', { params: { id, user_ref: ann.ref } });
    expect(await refsOf(id)).toEqual([]);
    expect(await statusOf(ann, 'DELETE', `/teams/${id}/members/${ann.ref}`)).toBe(404);
    expect(await statusOf(ann, 'DELETE', `/teams/${nowhere}/members/${ann.ref}`)).toBe(404);
  });

  test('leaving does not require teams.read', async () => {
    const leaver = await arrive(library, 'leaver');
    const id = await newTeam([leaver]);
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: leaver.ref, capability: 'teams.read' })
      .execute();
    expect(await statusOf(leaver, 'DELETE', `/teams/${id}/members/${leaver.ref}`)).toBe(204);
  });

  // TEAM-9
  test('refuses strangers, other members and tokens without the scope', async () => {
    const id = await newTeam([ann, ben]);
    const stranger = await arrive(library, 'stranger');
    const token = await bearer(library, ann, ['read']);
    for (const who of [stranger, ben, token])
      expect(await statusOf(who, 'DELETE', `/teams/${id}/members/${ann.ref}`)).toBe(403);
    expect(await statusOf(library.anonymous(), 'DELETE', `/teams/${id}/members/${ann.ref}`)).toBe(401);
    expect(await refsOf(id)).toEqual([ann.ref, ben.ref]);
  });
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
          joined_at: expect.any(String),
        },
      ],
      next_cursor: null,
    });
  });

  test('pages contain each of 120 members once', async () => {
    const id = await newTeam();
    await sql`with people as (
        insert into users (username, role_id) select 'crowd ' || i, r.id
        from generate_series(1, 120) i, roles r where r.code = 'viewer' returning ref)
      insert into team_members (team_id, user_ref) select ${id}::uuid, ref from people`.execute(
      library.deps.db,
    );
    const sizes: number[] = [];
    const refs: number[] = [];
    let cursor: string | null = null;
    do {
      const query: { cursor?: string } = cursor === null ? {} : { cursor };
      const page: { items: { user_ref: number }[]; next_cursor: string | null } = await ann.ok(
        'listTeamMembers',
        {
          params: { id },
          query,
        },
      );
      sizes.push(page.items.length);
      refs.push(...page.items.map(({ user_ref }) => user_ref));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(sizes).toEqual([50, 50, 20]);
    expect(new Set(refs).size).toBe(120);
    expect(refs).toEqual([...refs].sort((a, b) => a - b));
    expect(await statusOf(ann, 'GET', `/teams/${id}/members?cursor=x`)).toBe(400);
  });

  test('returns 404 for an unknown team', async () => {
    expect(await statusOf(ann, 'GET', `/teams/${nowhere}/members`)).toBe(404);
  });
});

describe('GET /auth/me/teams', () => {
  // TEAM-10
  test('lists the memberships of the caller by name, ignoring case', async () => {
    const me = await arrive(library, 'me');
    for (const name of ['beta', 'Alpha', 'GAMMA', 'alpha two']) await addTeam(library, name, [me]);
    await newTeam([ben]);
    const teams = await me.ok('listMyTeams');
    expect(teams.map(({ name }) => name)).toEqual(['Alpha', 'alpha two', 'beta', 'GAMMA']);
    expect(teams[0]).toEqual(await me.ok('getTeam', { params: { id: teams[0]?.id ?? nowhere } }));
    expect(await myTeams(await actAs(library, root, me))).toEqual(teams.map(({ id }) => id));
    expect(await myTeams(await bearer(library, me, ['read']))).toEqual(teams.map(({ id }) => id));
    expect((await (await bearer(library, me, ['posts.write'])).refused('listMyTeams')).status).toBe(403);
  });

  test('omits deleted teams, and parents and children', async () => {
    const me = await arrive(library, 'me too');
    const [above, id, below, closed] = [
      await newTeam(),
      await newTeam([me]),
      await newTeam(),
      await newTeam([me]),
    ];
    await writer.ok('addTeamParent', { params: { id, parent_id: above } });
    await writer.ok('addTeamParent', { params: { id: below, parent_id: id } });
    await writer.ok('deleteTeam', { params: { id: closed } });
    expect(await myTeams(me)).toEqual([id]);
  });
});

describe('what membership gives', () => {
  test('the team’s assets are visible from the next request on, until it ends', async () => {
    const owner = await arrive(library, 'owner');
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
});
