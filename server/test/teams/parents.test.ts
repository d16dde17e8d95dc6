import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

let made = 0;

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const writer = await library.join('writer');
await grant(library, writer, ['teams.write', 'content.read.all']);
const reader = await library.join('reader', 'viewer');

const newTeam = (name = 'team') => {
  made += 1;
  return addTeam(library, `${name} ${made}`);
};
const newTeams = (count: number) => Promise.all(Array.from({ length: count }, () => newTeam()));
const path = (id: string, parent_id: string) => `/teams/${id}/parents/${parent_id}`;
const put = (id: string, parent_id: string, visitor: Visitor = writer) =>
  visitor.status('PUT', path(id, parent_id));
const remove = (id: string, parent_id: string, visitor: Visitor = writer) =>
  visitor.status('DELETE', path(id, parent_id));
const parentsOf = async (id: string) =>
  (await reader.ok('getTeam', { params: { id } })).parents.map(({ parent_id }) => parent_id);
const links = async (among: readonly string[]) =>
  (await db.selectFrom('team_parents').select('parent_id').where('team_id', 'in', among).execute()).length;

/** Makes each team the parent of the next one, directly in the table. */
async function chain(length: number): Promise<string[]> {
  const teams = await newTeams(length);
  const values = teams.slice(1).map((team_id, i) => ({ team_id, parent_id: teams[i] ?? nowhere }));
  if (values.length > 0) await db.insertInto('team_parents').values(values).execute();
  return teams;
}

describe('PUT /teams/{id}/parents/{parent_id}', () => {
  // TEAM-4
  test('lists the direct parents of a team by name, none for a root', async () => {
    const [id, zebra] = [await newTeam('child'), await newTeam('zebra')];
    const [alpha, grand] = [await newTeam('alpha'), await newTeam('grand')];
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
    expect(await auditEvents(library, { target_id: id })).toMatchObject([
      { event: 'team.parent.added', actor_user_ref: writer.ref, metadata: { parent_id: parent } },
    ]);
  });

  test('requires global teams.write', async () => {
    const [id, parent] = [await newTeam(), await newTeam()];
    const local = await library.join('local');
    for (const team of [id, parent]) await grant(library, local, 'teams.write', team);
    expect([await put(id, parent, local), await remove(id, parent, local)]).toEqual([403, 403]);
    expect(await parentsOf(id)).toEqual([]);
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

  test('of five teams, without a change', async () => {
    const ring = await chain(5);
    const [top = '', , third = '', , bottom = ''] = ring;
    for (const parent of [bottom, third]) expect(await put(top, parent)).toBe(400);
    expect(await links(ring)).toBe(4);
  });

  test('unlike a second path to a team', async () => {
    const [top = '', left = '', right = '', bottom = ''] = await newTeams(4);
    for (const [id, parents] of [
      [left, [top]],
      [right, [top]],
      [bottom, [left, right, top]],
    ] as const)
      for (const parent of parents) expect(await put(id, parent)).toBe(204);
    expect(await put(top, bottom)).toBe(400);
  });

  // TEAM-5
  test('and lets one of two concurrent calls that close it succeed', async () => {
    for (let round = 0; round < 4; round += 1) {
      const [one, two] = [await newTeam(), await newTeam()];
      const answers = await Promise.all([put(one, two, writer), put(two, one, root)]);
      expect(answers.sort()).toEqual([204, 400]);
    }
  });

  test('and lets four of five concurrent calls that close it succeed', async () => {
    for (let round = 0; round < 2; round += 1) {
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

test('DELETE /teams/{id}/parents/{parent_id} removes one parent and keeps the others', async () => {
  const [id, one, two] = [await newTeam(), await newTeam(), await newTeam()];
  await put(id, one);
  await put(id, two);
  expect(await remove(id, one)).toBe(204);
  expect(await parentsOf(id)).toEqual([two]);
  expect([await remove(id, one), await remove(two, id), await remove(id, nowhere)]).toEqual([404, 404, 404]);
});
