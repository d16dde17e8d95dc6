import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let root: Account;
let writer: Account;
let reader: Account;
let made = 0;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  writer = await arrive(library, 'writer');
  await grant(library, writer, 'teams.write');
  reader = await arrive(library, 'reader', 'viewer');
});

const newTeam = (name = 'team') => {
  made += 1;
  return addTeam(library, `${name} ${made}`);
};
const newTeams = async (count: number) => {
  const teams: string[] = [];
  for (let i = 0; i < count; i += 1) teams.push(await newTeam());
  return teams;
};
const path = (id: string, parent_id: string) => `/teams/${id}/parents/${parent_id}`;
const put = async (id: string, parent_id: string, visitor: Visitor = writer) =>
  (await visitor.send(path(id, parent_id), { method: 'PUT' })).status;
const remove = async (id: string, parent_id: string, visitor: Visitor = writer) =>
  (await visitor.send(path(id, parent_id), { method: 'DELETE' })).status;
const parentsOf = async (id: string) =>
  (await reader.ok('getTeam', { params: { id } })).parents.map(({ parent_id }) => parent_id);
const links = async (among: readonly string[]) =>
  (
    await library.deps.db
      .selectFrom('team_parents')
      .select(['team_id', 'parent_id'])
      .where('team_id', 'in', among)
      .execute()
  ).length;

/** Makes each team the parent of the next one, directly in the table. */
async function chain(length: number): Promise<string[]> {
  const teams = await newTeams(length);
  const values = teams.slice(1).map((team_id, i) => ({ team_id, parent_id: teams[i] ?? nowhere }));
  if (values.length > 0) await library.deps.db.insertInto('team_parents').values(values).execute();
  return teams;
}

describe('PUT /teams/{id}/parents/{parent_id}', () => {
  // TEAM-4
  test('lists the direct parents of a team by name, none for a root', async () => {
    const [id, zebra, alpha, grand] = [
      await newTeam('child'),
      await newTeam('zebra'),
      await newTeam('alpha'),
      await newTeam('grand'),
    ];
    for (const [team, parent] of [
      [id, zebra],
      [id, alpha],
      [zebra, grand],
    ] as const)
      expect(await put(team, parent)).toBe(204);
    const names = async (of: string) => {
      const team = await reader.ok('getTeam', { params: { id: of } });
      return { parent_id: of, parent_slug: team.slug, parent_name: team.name };
    };
    const { parents } = await reader.ok('getTeam', { params: { id } });
    expect(parents).toEqual([await names(alpha), await names(zebra)]);
    const { items } = await reader.ok('listTeams', { query: { q: 'child' } });
    expect(items[0]?.parents).toEqual(parents);
    expect(await parentsOf(grand)).toEqual([]);
  });

  test('is idempotent, with one event', async () => {
    const [id, parent] = [await newTeam(), await newTeam()];
    expect([await put(id, parent), await put(id, parent)]).toEqual([204, 204]);
    expect(await parentsOf(id)).toEqual([parent]);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'metadata'])
      .where('target_id', '=', id)
      .execute();
    expect(events).toEqual([
      { event: 'team.parent.added', actor_user_ref: writer.ref, metadata: { parent_id: parent } },
    ]);
  });

  test('returns 404 for unknown and deleted teams, 400 for malformed ids', async () => {
    const [id, closed] = [await newTeam(), await newTeam()];
    await writer.ok('deleteTeam', { params: { id: closed } });
    for (const other of [nowhere, closed]) {
      expect([await put(id, other), await put(other, id)]).toEqual([404, 404]);
    }
    expect([await put(id, 'print'), await put('print', id)]).toEqual([400, 400]);
    expect(await parentsOf(id)).toEqual([]);
  });

  test('requires global teams.write, and refuses impersonators and tokens without the scope', async () => {
    const [id, parent] = [await newTeam(), await newTeam()];
    const local = await arrive(library, 'local');
    for (const team of [id, parent]) await grant(library, local, 'teams.write', team);
    const refused: Visitor[] = [
      local,
      reader,
      await actAs(library, root, writer),
      await bearer(library, writer, ['read', 'assets.write']),
    ];
    for (const who of refused)
      expect([await put(id, parent, who), await remove(id, parent, who)]).toEqual([403, 403]);
    expect(await put(id, parent, library.anonymous())).toBe(401);
    expect(await parentsOf(id)).toEqual([]);
    expect(await put(id, parent, await bearer(library, writer, ['admin']))).toBe(204);
  });
});

// TEAM-5
describe('returns 400 for a cycle', () => {
  // TEAM-5
  test('of one team, regardless of the case of its id', async () => {
    const id = await newTeam();
    const circle = { status: 400, error: 'teams would form a cycle' };
    for (const parent_id of [id, id.toUpperCase()])
      expect(await writer.refused('addTeamParent', { params: { id, parent_id } })).toEqual(circle);
    expect(await parentsOf(id)).toEqual([]);
  });

  test('of five teams, at any link, without a change', async () => {
    const ring = await newTeams(5);
    const at = (i: number) => ring[i % 5] ?? nowhere;
    for (let open = 0; open < 5; open += 1) {
      for (let i = 1; i < 5; i += 1) expect(await put(at(open + i), at(open + i + 1))).toBe(204);
      expect(await put(at(open), at(open + 1))).toBe(400);
      // A shortcut across the chain closes a cycle, too.
      expect(await put(at(open), at(open + 3))).toBe(400);
      expect(await links(ring)).toBe(4);
      for (let i = 1; i < 5; i += 1) expect(await remove(at(open + i), at(open + i + 1))).toBe(204);
    }
  });

  test('unlike a second path to a team', async () => {
    const [top, left, right, bottom] = await newTeams(4);
    const pairs = [
      [left, top],
      [right, top],
      [bottom, left],
      [bottom, right],
      [bottom, top],
    ] as const;
    for (const [id, parent] of pairs) expect(await put(id ?? nowhere, parent ?? nowhere)).toBe(204);
    expect(await put(top ?? nowhere, bottom ?? nowhere)).toBe(400);
  });

  // TEAM-5
  test('and lets one of two concurrent calls that close it succeed', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = [await newTeam(), await newTeam()];
      const answers = await Promise.all([put(one, two, writer), put(two, one, root)]);
      expect(answers.sort()).toEqual([204, 400]);
    }
  });

  test('and lets four of five concurrent calls that close it succeed', async () => {
    for (let round = 0; round < 3; round += 1) {
      const ring = await newTeams(5);
      const answers = await Promise.all(ring.map((id, i) => put(id, ring[(i + 1) % 5] ?? nowhere)));
      expect(answers.sort()).toEqual([204, 204, 204, 204, 400]);
      expect(await links(ring)).toBe(4);
    }
  });
});

// TEAM-5
describe('the depth limit of 20 teams', () => {
  test('accepts level 20 and refuses level 21, at either end', async () => {
    const teams = await chain(19);
    const [bottom, top, low, high] = [await newTeam(), teams[0] ?? nowhere, await newTeam(), await newTeam()];
    expect(await put(bottom, teams.at(-1) ?? nowhere)).toBe(204);
    expect(await writer.refused('addTeamParent', { params: { id: low, parent_id: bottom } })).toEqual({
      status: 400,
      error: 'teams are at most 20 deep',
    });
    expect(await put(top, high)).toBe(400);
    expect([await parentsOf(low), await parentsOf(top)]).toEqual([[], []]);
    // A sibling is not a child.
    expect(await put(low, teams.at(-1) ?? nowhere)).toBe(204);
  });

  test('joins two chains of ten teams, but not of ten and eleven', async () => {
    const [first, second, third] = [await chain(10), await chain(10), await chain(11)];
    const end = first.at(-1) ?? nowhere;
    expect(await put(third[0] ?? nowhere, end)).toBe(400);
    expect(await put(second[0] ?? nowhere, end)).toBe(204);
  });

  test('applies to concurrent calls', async () => {
    const teams = await chain(19);
    const [low, high] = [await newTeam(), await newTeam()];
    const answers = await Promise.all([
      put(low, teams.at(-1) ?? nowhere, writer),
      put(teams[0] ?? nowhere, high, root),
    ]);
    expect(answers.sort()).toEqual([204, 400]);
  });
});

describe('DELETE /teams/{id}/parents/{parent_id}', () => {
  test('removes one parent and keeps the others', async () => {
    const [id, one, two] = [await newTeam(), await newTeam(), await newTeam()];
    await put(id, one);
    await put(id, two);
    expect(await remove(id, one)).toBe(204);
    expect(await parentsOf(id)).toEqual([two]);
    expect(await remove(id, one)).toBe(404);
    expect(await remove(two, id)).toBe(404);
    expect(await remove(id, nowhere)).toBe(404);
  });
});

describe('a deleted parent', () => {
  test('is not listed', async () => {
    const [id, kept, closed] = [await newTeam(), await newTeam(), await newTeam()];
    await put(id, kept);
    await put(id, closed);
    await writer.ok('deleteTeam', { params: { id: closed } });
    expect(await parentsOf(id)).toEqual([kept]);
  });
});
