import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** The access matrix (server/test/access/surfaces/teams.ts) shows who reads and changes teams. */

const library = await openLibrary();
const root = await library.join('root', 'admin');
/** An account with `teams.write` in all teams. */
const writer = await library.join('writer');
await grant(library, writer, ['teams.write', 'content.read.all']);
const [stranger, owner] = await library.joinAll('stranger', 'owner');
const hash = (await upload(owner, plainFile())).file_hash ?? '';

const create = (name: string, rest: { slug?: string; description?: string } = {}) =>
  writer.ok('createTeam', { body: { name, ...rest } });

const addAsset = (more: object = {}) =>
  owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public', ...more } });
const found = async (q: string, visitor: Visitor = stranger) =>
  (await visitor.ok('listTeams', { query: { q } })).items.map(({ name }) => name);
const eventsOf = async (id: string) =>
  (await auditEvents(library, { target_id: id })).map((row) => [row.event, row.actor_user_ref]);

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
  test('makes only its creator a member; description and slug may be null', async () => {
    const body = { name: 'Founders', slug: null, description: null };
    const team = await writer.ok('createTeam', { body });
    expect(team).toMatchObject({ slug: 'founders', description: '' });
    const { items } = await stranger.ok('listTeamMembers', { params: { id: team.id } });
    expect(items.map(({ user_ref }) => user_ref)).toEqual([writer.ref]);
  });

  // TEAM-1
  test('derives the slug from the name', async () => {
    for (const [name, slug] of [
      ['Press & Paper!', 'press-paper'],
      ['  Zoë Ångström  ', 'zoe-angstrom'],
      ['ÉTÉ 2026', 'ete-2026'],
      ['-- 3D --', '3d'],
      ['ﬁne ①', 'fine-1'],
      ['日本語', 'team'],
      ['🦊🦊', 'team-2'],
      ['!?', 'team-3'],
    ] as const)
      expect(await create(name)).toMatchObject({ name, slug });
    // Long names, also cut at a space.
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
  test('gives a slug to one of ten concurrent requests; the others are 409 and write nothing', async () => {
    const request = { method: 'POST', body: { name: 'Race', slug: 'raced-for' } };
    const answers = await Promise.all(Array.from({ length: 10 }, () => writer.send('/teams', request)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, text }) => [status, JSON.parse(text).error])).toEqual(
      Array.from({ length: 9 }, () => [409, 'that slug is taken']),
    );
    expect(await found('race')).toEqual(['Race']);
  });

  // TEAM-1
  test('allows a mirrored team the slug of a local team', async () => {
    const { id } = await create('Ours', { slug: 'shared-slug' });
    // A team of a peer, which everyone knows by a public asset.
    const theirs = { slug: 'shared-slug', name: 'Theirs', origin_server_id: nowhere };
    const { db } = library.deps;
    const peer = await db.insertInto('teams').values(theirs).returning('id').executeTakeFirstOrThrow();
    const asset = await addAsset();
    await db.updateTable('assets').set({ team_id: peer.id }).where('id', '=', asset.id).execute();
    const teams = (await stranger.ok('listTeams', { query: { q: 'shared-slug' } })).items;
    expect(teams.map((team) => [team.name, team.origin_server_id])).toEqual([
      ['Ours', null],
      ['Theirs', nowhere],
    ]);
    await writer.ok('updateTeam', { params: { id }, body: { slug: 'shared-slug' } });
  });

  // TEAM-1
  test('accepts values of the maximum length', async () => {
    const body = { name: '日'.repeat(200), slug: 'x'.repeat(80), description: '🦊'.repeat(500) };
    expect(await writer.ok('createTeam', { body })).toMatchObject(body);
  });

  test('slugs of other characters and names that are blank or of two lines are 400, also in a change', async () => {
    const { id } = await create('Patched');
    const slugs = ['Print', 'a b', 'a--b', '-a', 'a\n', 'zoë'].map((slug) => ({ name: 'a', slug }));
    // The last one has 202 characters that look like 101.
    const names = [' \t ', 'a\r\nb', 'e\u0301'.repeat(101)].map((name) => ({ name }));
    for (const body of [...slugs, ...names]) {
      const statuses = [
        await writer.status('POST', '/teams', body),
        await writer.status('PATCH', `/teams/${id}`, body),
      ];
      expect([body, ...statuses]).toEqual([body, 400, 400]);
    }
  });
});

describe('PATCH /teams/{id}', () => {
  test('changes what is given and updated_at; absent and null properties stay', async () => {
    const team = await create('Before', { description: 'as it was' });
    const params = { id: team.id };
    const nothing = { slug: null, description: null };
    const renamed = await writer.ok('updateTeam', { params, body: { ...nothing, name: 'After' } });
    expect(renamed).toEqual({ ...team, name: 'After', updated_at: renamed.updated_at });
    expect(Date.parse(renamed.updated_at)).toBeGreaterThan(Date.parse(team.updated_at));
    const moved = await writer.ok('updateTeam', { params, body: { slug: 'moved', description: '' } });
    expect(moved).toEqual({ ...renamed, slug: 'moved', description: '', updated_at: moved.updated_at });
    for (const body of [{}, { ...nothing, name: null }])
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
      expect([method, path, await root.status(method, path, body)]).toEqual([method, path, 404]);
    expect(await root.status('POST', '/assets', { file_hash: hash, team_id: id })).toBe(404);
    expect(await eventsOf(id)).toEqual([
      ['team.created', writer.ref],
      ['team.deleted', writer.ref],
    ]);
  });

  // TEAM-12
  test('does not change what the team owns', async () => {
    const { id } = await create('Owner of things');
    await writer.ok('addTeamMember', { params: { id, user_ref: owner.ref } });
    const asset = await addAsset({ team_id: id });
    const post = await publish(owner, [asset], { team_id: id });
    await writer.ok('deleteTeam', { params: { id } });
    expect(await stranger.ok('getAsset', { params: { id: asset.id } })).toMatchObject({ id: asset.id });
    expect((await stranger.ok('getPost', { params: { id: post.id } })).team_id).toBe(id);
  });

  test('one of two concurrent deletions succeeds, the other returns 404', async () => {
    const { id } = await create('Closed once');
    const answers = await Promise.all([writer, root].map((who) => who.status('DELETE', `/teams/${id}`)));
    expect(answers.sort()).toEqual([204, 404]);
  });
});

describe('GET /teams and GET /teams/{id}', () => {
  // TEAM-6
  test('member_count counts direct memberships only, content_count every live asset regardless of the caller', async () => {
    const [team, below] = [await create('Counted'), await create('Counted below')];
    await writer.ok('addTeamParent', { params: { id: below.id, parent_id: team.id } });
    for (const [id, who] of [
      [team.id, owner],
      [below.id, root],
    ] as const)
      await writer.ok('addTeamMember', { params: { id, user_ref: who.ref } });
    for (const more of [{}, { sensitivity: 'restricted' }, { status: 'draft' }])
      await addAsset({ team_id: team.id, ...more });
    const deleted = await addAsset({ team_id: team.id });
    await owner.ok('deleteAsset', { params: { id: deleted.id }, body: undefined });
    await addAsset();
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
  const pages = (q: string, limit: number) =>
    pagesOf((from) => stranger.ok('listTeams', { query: { q, limit, ...from } }));

  test('paginate by name: each of 60 teams whose names differ in case is listed once', async () => {
    const values = Array.from({ length: 60 }, (_, i) => ({
      slug: `equal-${i}`,
      name: i % 2 === 0 ? 'EQUAL names' : 'equal NAMES',
    }));
    await library.deps.db
      .insertInto('teams')
      .values([...values, { slug: 'equal-a', name: 'Equal' }, { slug: 'equal-z', name: 'equal names too' }])
      .execute();
    const fifty = await pages('equal-', 50);
    expect(fifty.map((page) => page.length)).toEqual([50, 12]);
    const all = fifty.flat();
    expect(new Set(all.map(({ id }) => id)).size).toBe(62);
    expect([all.at(0)?.name, all.at(-1)?.name]).toEqual(['Equal', 'equal names too']);
    const middle = all.slice(1, -1).map(({ id }) => id);
    expect(middle).toEqual([...middle].sort());
    expect((await pages('equal-', 31)).map((page) => page.length)).toEqual([31, 31]);
    expect((await pages('equal-', 7)).flat()).toEqual(all);
    expect((await stranger.ok('listTeams', { query: { q: 'equal-' } })).items).toHaveLength(50);
  });

  test('continue after a name of 200 characters of any script', async () => {
    for (const [script, letter] of ['x', 'ж', '日', '🦊'].entries()) {
      const slug = `long-${script}`;
      for (const last of ['1', '2', '3'])
        await create(letter.repeat(199) + last, { slug: `${slug}-${last}` });
      const names = (await pages(slug, 1)).flat().map(({ name }) => name.at(-1));
      expect([letter, ...names]).toEqual([letter, '1', '2', '3']);
    }
  });
});
