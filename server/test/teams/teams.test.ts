import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let root: Account;
/** An account with `teams.write` in all teams. */
let writer: Account;
let stranger: Account;
let owner: Account;
let hash: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  writer = await arrive(library, 'writer');
  await grant(library, writer, 'teams.write');
  stranger = await arrive(library, 'stranger');
  owner = await arrive(library, 'owner');
  hash = (await upload(owner, plainFile())).file_hash ?? '';
});

const create = (name: string, rest: { slug?: string; description?: string } = {}) =>
  writer.ok('createTeam', { body: { name, ...rest } });
const statusOf = async (visitor: Visitor, method: string, path: string, body?: unknown) =>
  (await visitor.send(path, { method, body })).status;
/** Adds a team of a peer, which everyone knows by a public asset. Returns its id. */
const insertMirrored = async (values: { slug: string; name: string; origin_server_id: string }) => {
  const { db } = library.deps;
  const { id } = await db.insertInto('teams').values(values).returning('id').executeTakeFirstOrThrow();
  const asset = await upload(owner, plainFile());
  await db.updateTable('assets').set({ team_id: id }).where('id', '=', asset.id).execute();
  return id;
};
const found = async (q: string, visitor: Visitor = stranger) =>
  (await visitor.ok('listTeams', { query: { q } })).items.map(({ name }) => name);
const eventsOf = async (id: string) => {
  const rows = await library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref'])
    .where('target_id', '=', id)
    .orderBy('occurred_at')
    .execute();
  return rows.map((row) => [row.event, row.actor_user_ref]);
};

describe('POST /teams', () => {
  // TEAM-1
  test('returns a team without parents, picture, origin or counts', async () => {
    const team = await create('Print Studio', { description: 'What goes to paper.' });
    expect(team).toStrictEqual({
      id: expect.any(String),
      slug: 'print-studio',
      name: 'Print Studio',
      description: 'What goes to paper.',
      origin_server_id: null,
      parents: [],
      created_at: expect.any(String),
      updated_at: team.created_at,
    });
    expect(await stranger.ok('getTeam', { params: { id: team.id } })).toStrictEqual(team);
    expect(await eventsOf(team.id)).toEqual([['team.created', writer.ref]]);
  });

  // TEAM-3
  test('makes only its creator a member', async () => {
    const { id } = await create('Founders');
    const { items } = await stranger.ok('listTeamMembers', { params: { id } });
    expect(items.map(({ user_ref }) => user_ref)).toEqual([writer.ref]);
    expect((await writer.ok('listMyTeams')).map((team) => team.id)).toContain(id);
  });

  test('stores an empty description if it is omitted or null', async () => {
    const body = { name: 'Terse', slug: null, description: null };
    expect(await writer.ok('createTeam', { body })).toMatchObject({ slug: 'terse', description: '' });
  });

  // TEAM-1
  test.each([
    ['Press & Paper!', 'press-paper'],
    ['  Zoë Ångström  ', 'zoe-angstrom'],
    ['ÉTÉ 2026', 'ete-2026'],
    ['-- 3D --', '3d'],
    ['ﬁne ①', 'fine-1'],
  ])('derives the slug from the name: %j gives %s', async (name, slug) => {
    const team = await create(name);
    expect(team).toMatchObject({ name, slug });
  });

  test.each(['日本語', '🦊🦊', '!?', 'ж'])(
    'derives a slug from a name without Latin letters, %s',
    async (name) => {
      expect((await create(name)).slug).toMatch(/^team(-\d+)?$/);
    },
  );

  test('derives valid slugs from long names, also if they are cut at a space', async () => {
    for (const name of ['long '.repeat(40).trim(), `${'a'.repeat(69)} ${'b'.repeat(69)}`, 'ab'.repeat(100)]) {
      const { slug } = await create(name);
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(slug.length).toBeLessThanOrEqual(80);
    }
  });

  test('creates another team for a repeated name, with a number in its slug, also concurrently', async () => {
    const names = await Promise.all(Array.from({ length: 10 }, () => create('Twice')));
    const slugs = Array.from({ length: 10 }, (_, i) => (i === 0 ? 'twice' : `twice-${i + 1}`));
    expect(names.map(({ slug }) => slug).sort()).toEqual(slugs.sort());
  });

  // TEAM-1
  test('returns 409 for an existing slug, and writes nothing', async () => {
    await create('First', { slug: 'wanted' });
    expect(await writer.refused('createTeam', { body: { name: 'Second', slug: 'wanted' } })).toEqual({
      status: 409,
      error: 'that slug is taken',
    });
    expect(await found('Second')).toEqual([]);
  });

  test('gives a slug to one of ten concurrent requests', async () => {
    const body = { name: 'Race', slug: 'raced-for' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => statusOf(writer, 'POST', '/teams', body)),
    );
    expect(answers.sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  });

  // TEAM-1
  test('allows a mirrored team the slug of a local team', async () => {
    const { id } = await create('Ours', { slug: 'shared-slug' });
    const mirrored = { slug: 'shared-slug', name: 'Theirs', origin_server_id: nowhere };
    await insertMirrored(mirrored);
    const teams = (await stranger.ok('listTeams', { query: { q: 'shared-slug' } })).items;
    expect(teams.map((team) => [team.name, team.origin_server_id])).toEqual([
      ['Ours', null],
      ['Theirs', nowhere],
    ]);
    expect(await writer.ok('updateTeam', { params: { id }, body: { slug: 'shared-slug' } })).toMatchObject({
      id,
    });
  });

  // TEAM-1
  test('accepts values of the maximum length', async () => {
    const body = { name: '日'.repeat(200), slug: 'x'.repeat(80), description: '🦊'.repeat(500) };
    expect(await writer.ok('createTeam', { body })).toMatchObject(body);
  });

  const bad: [string, unknown][] = [
    ['a slug with capitals', { name: 'a', slug: 'Print' }],
    ['a slug with a blank', { name: 'a', slug: 'a b' }],
    ['a slug with two hyphens in a row', { name: 'a', slug: 'a--b' }],
    ['a slug that begins with a hyphen', { name: 'a', slug: '-a' }],
    ['a slug that ends in a line break', { name: 'a', slug: 'a\n' }],
    ['a slug beyond ASCII', { name: 'a', slug: 'zoë' }],
    ['a blank name', { name: ' \t ' }],
    ['a name of 202 characters that look like 101', { name: 'e\u0301'.repeat(101) }],
    ['a name of two lines', { name: 'a\r\nb' }],
  ];
  test.each(bad)('%s is 400', async (_, body) => {
    expect(await statusOf(writer, 'POST', '/teams', body)).toBe(400);
  });
});

describe('PATCH /teams/{id}', () => {
  test('changes what is given and updated_at; absent and null properties stay', async () => {
    const team = await create('Before', { description: 'as it was' });
    const params = { id: team.id };
    const renamed = await writer.ok('updateTeam', {
      params,
      body: { name: 'After', slug: null, description: null },
    });
    expect(renamed).toEqual({ ...team, name: 'After', updated_at: renamed.updated_at });
    expect(Date.parse(renamed.updated_at)).toBeGreaterThan(Date.parse(team.updated_at));
    const moved = await writer.ok('updateTeam', { params, body: { slug: 'moved', description: '' } });
    expect(moved).toEqual({ ...renamed, slug: 'moved', description: '', updated_at: moved.updated_at });
    for (const body of [{}, { name: null, slug: null, description: null }])
      expect(await writer.ok('updateTeam', { params, body })).toEqual(moved);
    expect(await eventsOf(team.id)).toEqual([
      ['team.created', writer.ref],
      ['team.updated', writer.ref],
      ['team.updated', writer.ref],
    ]);
  });

  test('returns 409 for the slug of another team, and accepts its own', async () => {
    const taken = await create('Taken', { slug: 'already-there' });
    const team = await create('Mover');
    const body = { name: 'Moved', slug: taken.slug };
    expect((await writer.refused('updateTeam', { params: { id: team.id }, body })).status).toBe(409);
    expect(await stranger.ok('getTeam', { params: { id: team.id } })).toEqual(team);
    await writer.ok('updateTeam', { params: { id: team.id }, body: { slug: team.slug } });
  });

  test('returns 400 for a blank name', async () => {
    const { id } = await create('Patched');
    expect(await statusOf(writer, 'PATCH', `/teams/${id}`, { name: ' ' })).toBe(400);
  });

  test('returns 404 for an unknown team, 400 for a malformed id', async () => {
    expect(await statusOf(writer, 'PATCH', `/teams/${nowhere}`, { name: 'a' })).toBe(404);
    expect(await statusOf(writer, 'PATCH', '/teams/print', { name: 'a' })).toBe(400);
  });
});

// TEAM-3
describe('who changes a team (teams.write, everywhere, or for it or a team above it)', () => {
  /** `above` is the parent of `middle`, which is the parent of `below`; `elsewhere` has neither parents nor children. */
  const ids = new Map<string, string>();
  const callers = new Map<string, Visitor>();
  const idOf = (name: string) => {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`no team ${name}`);
    return id;
  };

  beforeAll(async () => {
    const { db } = library.deps;
    for (const name of ['above', 'middle', 'below', 'elsewhere']) ids.set(name, await addTeam(library, name));
    for (const [team, parent] of [
      ['middle', 'above'],
      ['below', 'middle'],
    ] as const) {
      await db
        .insertInto('team_parents')
        .values({ team_id: idOf(team), parent_id: idOf(parent) })
        .execute();
    }
    callers.set('anonymous', library.anonymous());
    callers.set('a stranger', stranger);
    callers.set('a viewer', await arrive(library, 'viewer', 'viewer'));
    const member = await arrive(library, 'member');
    await db
      .insertInto('team_members')
      .values({ team_id: idOf('middle'), user_ref: member.ref })
      .execute();
    callers.set('a member of it', member);
    for (const [name, team] of [
      ['of it', 'middle'],
      ['of the team above', 'above'],
      ['of the team below', 'below'],
      ['of another team', 'elsewhere'],
    ] as const) {
      const holder = await arrive(library, `writer ${name}`);
      await grant(library, holder, 'teams.write', idOf(team));
      callers.set(`teams.write ${name}`, holder);
    }
    const late = await arrive(library, 'late');
    const over = { user_ref: late.ref, capability: 'teams.write', expires_at: '2026-01-01T00:00:00Z' };
    await db.insertInto('user_capability_grants').values(over).execute();
    callers.set('teams.write until yesterday', late);
    const revoked = await arrive(library, 'revoked');
    await grant(library, revoked, 'teams.write');
    await db
      .insertInto('user_capability_revokes')
      .values({ user_ref: revoked.ref, capability: 'teams.write' })
      .execute();
    callers.set('teams.write, revoked', revoked);
    callers.set('teams.write', writer);
    callers.set('system.admin', root);
    callers.set('an impersonator of teams.write', await actAs(library, root, writer));
    callers.set('a token of teams.write, scope admin', await bearer(library, writer, ['admin']));
    callers.set('a token of teams.write, scope read', await bearer(library, writer, ['read', 'posts.write']));
    callers.set('a token of a stranger, scope admin', await bearer(library, stranger, ['admin']));
  });

  const everywhere = ['teams.write', 'system.admin', 'a token of teams.write, scope admin'];
  const disguised = 'an impersonator of teams.write';
  const here = ['teams.write of it', 'teams.write of the team above'];
  const acts: { act: string; may: string[]; attempt: (visitor: Visitor) => Promise<number>; done: number }[] =
    [
      {
        act: 'creates one',
        may: [...everywhere, disguised],
        attempt: (visitor) => statusOf(visitor, 'POST', '/teams', { name: 'Made by somebody' }),
        done: 201,
      },
      {
        act: 'edits it',
        may: [...everywhere, disguised, ...here],
        attempt: (visitor) =>
          statusOf(visitor, 'PATCH', `/teams/${idOf('middle')}`, { description: 'edited' }),
        done: 200,
      },
      {
        act: 'takes its picture away',
        may: [...everywhere, disguised, ...here],
        attempt: (visitor) => statusOf(visitor, 'PUT', `/teams/${idOf('middle')}/hero`, { asset_id: null }),
        done: 200,
      },
      {
        act: 'adds a member',
        may: [...everywhere, ...here],
        attempt: (visitor) => statusOf(visitor, 'PUT', `/teams/${idOf('middle')}/members/${owner.ref}`),
        done: 204,
      },
      {
        act: 'removes a member',
        may: [...everywhere, disguised, ...here],
        async attempt(visitor) {
          await writer.ok('addTeamMember', { params: { id: idOf('middle'), user_ref: owner.ref } });
          return statusOf(visitor, 'DELETE', `/teams/${idOf('middle')}/members/${owner.ref}`);
        },
        done: 204,
      },
      {
        act: 'puts it below another',
        may: everywhere,
        attempt: (visitor) => statusOf(visitor, 'PUT', `/teams/${idOf('middle')}/parents/${idOf('above')}`),
        done: 204,
      },
      {
        act: 'takes it from below another',
        may: everywhere,
        async attempt(visitor) {
          const [from, to] = [
            await addTeam(library, `from ${visits}`),
            await addTeam(library, `to ${visits}`),
          ];
          visits += 1;
          await writer.ok('addTeamParent', { params: { id: from, parent_id: to } });
          return statusOf(visitor, 'DELETE', `/teams/${from}/parents/${to}`);
        },
        done: 204,
      },
      {
        act: 'closes one',
        may: [...everywhere, disguised],
        async attempt(visitor) {
          const { id } = await create('To be closed');
          // Accounts with teams.write in one team have it in this one, too.
          await writer.ok('addTeamParent', { params: { id, parent_id: idOf('middle') } });
          return statusOf(visitor, 'DELETE', `/teams/${id}`);
        },
        done: 204,
      },
    ];
  let visits = 0;

  // TEAM-3
  test.each(acts)('$act', async ({ may, attempt, done }) => {
    const outcomes: Record<string, number> = {};
    const due: Record<string, number> = {};
    for (const [name, visitor] of callers) {
      outcomes[name] = await attempt(visitor);
      due[name] = name === 'anonymous' ? 401 : may.includes(name) ? done : 403;
    }
    await library.setPublicMode(true);
    expect(await attempt(library.anonymous())).toBe(401);
    await library.setPublicMode(false);
    expect(outcomes).toEqual(due);
  });
});

// TEAM-12
describe('DELETE /teams/{id}', () => {
  // TEAM-12
  test('deletes the team: it can no longer be read, found, changed or deleted', async () => {
    const { id } = await create('Closing');
    await writer.ok('deleteTeam', { params: { id } });
    expect(await found('Closing')).toEqual([]);
    const other = await create('Still open');
    const gone: [string, string, unknown?][] = [
      ['GET', `/teams/${id}`],
      ['PATCH', `/teams/${id}`, { name: 'a' }],
      ['DELETE', `/teams/${id}`],
      ['PUT', `/teams/${id}/hero`, { asset_id: null }],
      ['GET', `/teams/${id}/members`],
      ['PUT', `/teams/${id}/members/${owner.ref}`],
      ['PUT', `/teams/${id}/follow`],
      ['DELETE', `/teams/${id}/follow`],
      ['PUT', `/teams/${id}/parents/${other.id}`],
      ['PUT', `/teams/${other.id}/parents/${id}`],
    ];
    for (const [method, path, body] of gone)
      expect([method, path, await statusOf(root, method, path, body)]).toEqual([method, path, 404]);
    expect(await statusOf(root, 'POST', '/assets', { file_hash: hash, team_id: id })).toBe(404);
    expect(await eventsOf(id)).toEqual([
      ['team.created', writer.ref],
      ['team.deleted', writer.ref],
    ]);
  });

  // TEAM-12
  test('does not change what the team owns', async () => {
    const { id } = await create('Owner of things');
    await writer.ok('addTeamMember', { params: { id, user_ref: owner.ref } });
    const asset = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', team_id: id },
    });
    const post = await publish(owner, [asset], { team_id: id });
    await writer.ok('deleteTeam', { params: { id } });
    expect(await stranger.ok('getAsset', { params: { id: asset.id } })).toMatchObject({ id: asset.id });
    expect(await stranger.ok('getPost', { params: { id: post.id } })).toMatchObject({
      id: post.id,
      team_id: id,
    });
  });

  test('one of two concurrent deletions succeeds, the other returns 404', async () => {
    const { id } = await create('Closed once');
    const answers = await Promise.all([writer, root].map((who) => statusOf(who, 'DELETE', `/teams/${id}`)));
    expect(answers.sort()).toEqual([204, 404]);
  });
});

describe('GET /teams and GET /teams/{id}', () => {
  // TEAM-2
  test('require teams.read, which every role holds, and refuse anonymous callers, also in public mode', async () => {
    const { id } = await create('For readers');
    const closedOut = await arrive(library, 'closed out');
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: closedOut.ref, capability: 'teams.read' })
      .execute();
    const viewer = await arrive(library, 'another viewer', 'viewer');
    const callers: [Visitor, number][] = [
      [viewer, 200],
      [stranger, 200],
      [root, 200],
      [await actAs(library, root, viewer), 200],
      [await bearer(library, viewer, ['read']), 200],
      [await bearer(library, viewer, ['posts.write']), 403],
      [closedOut, 403],
      [await bearer(library, closedOut, ['admin']), 403],
      [library.anonymous(), 401],
    ];
    for (const path of ['/teams', `/teams/${id}`, `/teams/${id}/members`]) {
      for (const [visitor, due] of callers)
        expect([path, await statusOf(visitor, 'GET', path)]).toEqual([path, due]);
      await library.setPublicMode(true);
      expect(await statusOf(library.anonymous(), 'GET', path)).toBe(401);
      await library.setPublicMode(false);
    }
  });

  // TEAM-6
  test('member_count counts direct memberships only, content_count every live asset regardless of the caller', async () => {
    const [team, below] = [await create('Counted'), await create('Counted below')];
    await writer.ok('addTeamParent', { params: { id: below.id, parent_id: team.id } });
    for (const [id, who] of [
      [team.id, owner],
      [team.id, writer],
      [below.id, root],
    ] as const)
      await writer.ok('addTeamMember', { params: { id, user_ref: who.ref } });
    const give = (more: object) =>
      owner.ok('createAsset', {
        body: { file_hash: hash, sensitivity: 'public', team_id: team.id, ...more },
      });
    await give({});
    await give({ sensitivity: 'restricted' });
    await give({ status: 'draft' });
    const deleted = await give({});
    await owner.ok('deleteAsset', { params: { id: deleted.id }, body: undefined });
    await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
    for (const visitor of [stranger, owner, root]) {
      const { items } = await visitor.ok('listTeams', { query: { q: 'counted' } });
      expect(items.map((one) => [one.name, one.member_count, one.content_count])).toEqual([
        ['Counted', 2, 3],
        ['Counted below', 2, 0],
      ]);
    }
    await root.ok('restoreAsset', { params: { id: deleted.id } });
    const [again] = (await stranger.ok('listTeams', { query: { q: 'counted' } })).items;
    expect(again?.content_count).toBe(4);
  });

  // TEAM-6
  test('return counts in the list only', async () => {
    const { id } = await create('Without counts');
    const params = { id };
    await owner.ok('followTeam', { params });
    await writer.ok('addTeamMember', { params: { id, user_ref: owner.ref } });
    const [listed] = (await owner.ok('listTeams', { query: { q: 'without counts' } })).items;
    expect(Object.keys(listed ?? {})).toEqual(expect.arrayContaining(['member_count', 'content_count']));
    const single = [
      await owner.ok('getTeam', { params }),
      await writer.ok('updateTeam', { params, body: { description: 'x' } }),
      ...(await owner.ok('listMyTeams')),
      ...(await owner.ok('listFollowedTeams')),
    ];
    expect(single.length).toBeGreaterThanOrEqual(4);
    for (const team of single) {
      expect(Object.keys(team)).not.toContain('member_count');
      expect(Object.keys(team)).not.toContain('content_count');
    }
  });

  // TEAM-4
  test('return the origin of a mirrored team', async () => {
    const id = await insertMirrored({ slug: 'mirrored', name: 'Mirrored', origin_server_id: nowhere });
    expect(await stranger.ok('getTeam', { params: { id } })).toMatchObject({ origin_server_id: nowhere });
  });

  // TEAM-14
  test('search name and slug with q, ignoring case, without wildcards', async () => {
    await create('Alpha 100% sure', { slug: 'q-one' });
    await create('Alpha 1000 sure', { slug: 'q-two' });
    await create('Alpha snake_case', { slug: 'q-three' });
    await create('Alpha snakeXcase', { slug: 'q-four' });
    await create('Alpha back\\slash', { slug: 'q-five' });
    expect(await found('100%')).toEqual(['Alpha 100% sure']);
    expect(await found('%')).toEqual(['Alpha 100% sure']);
    expect(await found('snake_CASE')).toEqual(['Alpha snake_case']);
    expect(await found('_')).toEqual(['Alpha snake_case']);
    expect(await found('k\\s')).toEqual(['Alpha back\\slash']);
    expect(await found('Q-F')).toEqual(['Alpha back\\slash', 'Alpha snakeXcase']);
    expect(await found('  alpha 1  ')).toEqual(['Alpha 100% sure', 'Alpha 1000 sure']);
    expect(await found("'; drop table teams; --")).toEqual([]);
  });

  /** Returns all pages of this query in order. */
  async function pages(q: string, limit: number): Promise<{ id: string; name: string }[][]> {
    const all: { id: string; name: string }[][] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string; name: string }[]; next_cursor: string | null } = await stranger.ok(
        'listTeams',
        { query: { q, limit, ...(cursor === null ? {} : { cursor }) } },
      );
      all.push(page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return all;
  }

  test('paginate by name: each of 120 teams whose names differ in case is listed once', async () => {
    const values = Array.from({ length: 120 }, (_, i) => ({
      slug: `equal-${i}`,
      name: i % 2 === 0 ? 'EQUAL names' : 'equal NAMES',
    }));
    await library.deps.db
      .insertInto('teams')
      .values([...values, { slug: 'equal-a', name: 'Equal' }, { slug: 'equal-z', name: 'equal names too' }])
      .execute();
    const fifty = await pages('equal-', 50);
    expect(fifty.map((page) => page.length)).toEqual([50, 50, 22]);
    const all = fifty.flat();
    expect(new Set(all.map(({ id }) => id)).size).toBe(122);
    expect([all.at(0)?.name, all.at(-1)?.name]).toEqual(['Equal', 'equal names too']);
    const middle = all.slice(1, -1).map(({ id }) => id);
    expect(middle).toEqual([...middle].sort());
    expect((await pages('equal-', 61)).map((page) => page.length)).toEqual([61, 61]);
    expect((await pages('equal-', 7)).flat()).toEqual(all);
    expect((await stranger.ok('listTeams', { query: { q: 'equal-' } })).items).toHaveLength(50);
  });

  test.each([
    ['Latin', 'x'],
    ['Cyrillic', 'ж'],
    ['Japanese', '日'],
    ['foxes', '🦊'],
  ])('continue after a name of 200 characters: %s', async (script, letter) => {
    const slug = `long-${script.toLowerCase()}`;
    for (const last of ['1', '2', '3']) await create(letter.repeat(199) + last, { slug: `${slug}-${last}` });
    expect((await pages(slug, 1)).flat().map(({ name }) => name.at(-1))).toEqual(['1', '2', '3']);
  });

  test('return 400 for a malformed cursor', async () => {
    for (const cursor of ['x', 'bmFtZQ'])
      expect(await statusOf(stranger, 'GET', `/teams?cursor=${cursor}`)).toBe(400);
  });

  test('returns 404 for an unknown team, 400 for a malformed id', async () => {
    expect(await statusOf(stranger, 'GET', `/teams/${nowhere}`)).toBe(404);
    expect(await statusOf(stranger, 'GET', '/teams/print')).toBe(400);
  });
});
