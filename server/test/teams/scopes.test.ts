import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { openLibrary, upload } from '../support/library.ts';
import { grant, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

/**
 * `house` is the parent of `studio` and `press`, and so on; `posters` is below both `print` and `web`:
 *
 *     house ── studio ── print ── posters ── small
 *          │         └── web ────┘
 *          └── press
 */
const names = ['house', 'studio', 'print', 'web', 'posters', 'small', 'press'] as const;
type Name = (typeof names)[number];
const links: readonly (readonly [Name, Name])[] = [
  ['studio', 'house'],
  ['press', 'house'],
  ['print', 'studio'],
  ['web', 'studio'],
  ['posters', 'print'],
  ['posters', 'web'],
  ['small', 'posters'],
];

const ids = new Map<Name, string>();

function idOf(name: Name): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`no team ${name}`);
  return id;
}

const link = (team_id: string, parent_id: string) =>
  db.insertInto('team_parents').values({ team_id, parent_id }).execute();
const unlink = (team_id: string, parent_id: string) =>
  db.deleteFrom('team_parents').where('team_id', '=', team_id).where('parent_id', '=', parent_id).execute();

/** A draft asset of each team, and one without a team. The access matrix tests other objects and capabilities. */
const drafts = new Map<Name | 'none', string>();

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [owner, ann] = await library.joinAll('owner', 'ann');
for (const name of names) ids.set(name, await addTeam(library, name));
for (const [team, parent] of links) await link(idOf(team), idOf(parent));
const hash = (await upload(owner, plainFile())).file_hash ?? '';
for (const name of [...names, 'none'] as const) {
  const team_id = name === 'none' ? null : idOf(name);
  const draft = await owner.ok('createAsset', {
    body: { file_hash: hash, sensitivity: 'public', status: 'draft' },
  });
  await db.updateTable('assets').set({ team_id }).where('id', '=', draft.id).execute();
  drafts.set(name, draft.id);
}

// Unique bytes, so that only the team decides about assets of ann.
await upload(ann, plainFile());

const given = async (capability: Capability, name: Name, expires_at: string | null = null) => {
  const body = { capability, team_id: idOf(name), expires_at };
  await root.ok('grantCapability', { params: { ref: ann.ref }, body });
};

beforeEach(async () => {
  await withdrawGrants(library, ann);
  await db.deleteFrom('user_capability_revokes').where('user_ref', '=', ann.ref).execute();
});

/** Returns the teams whose drafts the caller opens. */
async function opensDrafts(): Promise<string[]> {
  const found: string[] = [];
  for (const [name, id] of drafts) if ((await ann.status('GET', `/assets/${id}`)) === 200) found.push(name);
  return found.sort();
}

const below: Record<Name, Name[]> = {
  house: [...names],
  studio: ['studio', 'print', 'web', 'posters', 'small'],
  print: ['print', 'posters', 'small'],
  web: ['web', 'posters', 'small'],
  posters: ['posters', 'small'],
  small: ['small'],
  press: ['press'],
};

// ROLE-6
test('a grant reaches its team and those below it, never objects without a team; two grants their union', async () => {
  expect(await opensDrafts()).toEqual([]);
  for (const name of ['print', 'small', 'house'] as const) {
    await given('assets.admin', name);
    expect([name, await opensDrafts()]).toEqual([name, [...below[name]].sort()]);
    await withdrawGrants(library, ann);
  }
  for (const name of ['print', 'press'] as const) await given('assets.admin', name);
  expect(await opensDrafts()).toEqual(['posters', 'press', 'print', 'small']);
});

// TEAM-13
describe('teams.write in a team', () => {
  async function assigns(): Promise<string[]> {
    const found: string[] = [];
    for (const name of names) {
      const body = { file_hash: hash, team_id: idOf(name) };
      const answer = await ann.send('/assets', { method: 'POST', body });
      if (answer.status === 201) found.push(name);
      else expect([answer.status, JSON.parse(answer.text).error]).toEqual([404, 'team not found']);
    }
    return found.sort();
  }

  // TEAM-13
  test('allows new assets and posts in it and the teams below', async () => {
    expect(await assigns()).toEqual([]);
    await given('teams.write', 'print');
    expect(await assigns()).toEqual(['posters', 'print', 'small']);
    const asset = await ann.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
    const body = (name: Name) => ({ members: [{ asset_id: asset.id }], team_id: idOf(name) });
    expect((await ann.ok('createPost', { body: body('posters') })).team_id).toBe(idOf('posters'));
    expect(await ann.refused('createPost', { body: body('web') })).toEqual({
      status: 404,
      error: 'team not found',
    });
  });

  test('does not reach a team that is deleted', async () => {
    await given('teams.write', 'print');
    const mark = (deleted_at: string | null) =>
      db.updateTable('teams').set({ deleted_at }).where('id', '=', idOf('posters')).execute();
    await mark('2026-01-01T00:00:00Z');
    expect(await assigns()).toEqual(['print', 'small']);
    await mark(null);
  });
});

describe('a capability in a team', () => {
  // SESSION-12
  test('is listed as a grant, not among the global codes', async () => {
    const before = (await ann.ok('getMe')).capabilities;
    const codes = ['assets.admin', 'posts.admin', 'system.admin', 'users.read'] as const;
    for (const capability of codes) await given(capability, 'house');
    expect((await ann.ok('getMe')).capabilities).toEqual(before);
    const { capabilities, grants } = await ann.ok('getMyCapabilities');
    expect(capabilities).toEqual(before);
    const listed = grants.map(({ capability, team_id }) => [capability, team_id]);
    expect(listed).toEqual(codes.map((code) => [code, idOf('house')]));
    expect((await ann.refused('listUsers')).status).toBe(403);
  });

  // ROLE-14
  test('is listed with every team it reaches, unless it is held globally', async () => {
    expect(Object.keys(await ann.ok('getMyCapabilities'))).not.toContain('team_capabilities');
    await given('posts.admin', 'house');
    await given('teams.write', 'print');
    const told = async () => {
      const { team_capabilities = [] } = await ann.ok('getMyCapabilities');
      return new Map(team_capabilities.map(({ capability, team_ids }) => [capability, team_ids]));
    };
    const first = await told();
    expect([...first.keys()]).toEqual(['posts.admin', 'teams.write']);
    expect(new Set(first.get('posts.admin'))).toEqual(new Set(below.house.map(idOf)));
    expect(new Set(first.get('teams.write'))).toEqual(new Set(below.print.map(idOf)));
    await grant(library, ann, 'posts.admin');
    expect([...(await told()).keys()]).toEqual(['teams.write']);
  });
});

describe('a grant in a team', () => {
  // ROLE-7
  test('ends at the next request with a revoke everywhere, or from its team downwards', async () => {
    await given('assets.admin', 'print');
    const cases: [Capability, Name | undefined, string[]][] = [
      ['assets.admin', undefined, []],
      ['assets.admin', 'posters', ['print']],
      ['assets.admin', 'studio', []],
      ['assets.admin', 'press', ['posters', 'print', 'small']],
      ['posts.admin', undefined, ['posters', 'print', 'small']],
    ];
    for (const [capability, name, reached] of cases) {
      const team_id = name === undefined ? null : idOf(name);
      const input = { params: { ref: ann.ref }, body: { capability, team_id } };
      await root.ok('revokeCapability', input);
      expect([capability, name, await opensDrafts()]).toEqual([capability, name, reached]);
      await root.ok('removeRevoke', input);
    }
    const body = { capability: 'assets.admin', team_id: idOf('print') } as const;
    await root.ok('removeGrant', { params: { ref: ann.ref }, body });
    expect(await opensDrafts()).toEqual([]);
  });

  test('ends when it expires, before and after the sweeper runs', async () => {
    await given('assets.admin', 'print', new Date(Date.now() + 3_600_000).toISOString());
    expect(await opensDrafts()).toEqual(['posters', 'print', 'small']);
    await db
      .updateTable('user_capability_grants')
      .set({ expires_at: sql<string>`now() - interval '1 second'` })
      .where('user_ref', '=', ann.ref)
      .execute();
    expect(await opensDrafts()).toEqual([]);
    expect(await expire(db)).toBe(1);
    expect(await opensDrafts()).toEqual([]);
  });
});

// ROLE-8
describe('when a team moves in the graph', () => {
  beforeEach(async () => {
    await given('assets.admin', 'print');
    // Capabilities resolved a moment ago could be used by mistake.
    expect(await opensDrafts()).toEqual(['posters', 'print', 'small']);
  });

  afterEach(async () => {
    await db.deleteFrom('team_parents').execute();
    for (const [team, parent] of links) await link(idOf(team), idOf(parent));
  });

  // ROLE-8
  test('a team that leaves is not reachable at the next request, with all below it', async () => {
    await unlink(idOf('posters'), idOf('print'));
    expect(await opensDrafts()).toEqual(['print']);
  });

  test('a team that joins is reachable, with all below it', async () => {
    await link(idOf('press'), idOf('print'));
    expect(await opensDrafts()).toEqual(['posters', 'press', 'print', 'small']);
  });

  test('a change of parent affects both', async () => {
    await given('assets.admin', 'press');
    await db
      .updateTable('team_parents')
      .set({ parent_id: idOf('house') })
      .where('team_id', '=', idOf('posters'))
      .where('parent_id', '=', idOf('print'))
      .execute();
    expect(await opensDrafts()).toEqual(['press', 'print']);
  });
});

async function closure(among: Iterable<string>): Promise<string[]> {
  const { rows } = await sql<{ pair: string }>`select ancestor_id || ' ' || descendant_id as pair
    from team_closure where ancestor_id = any(${[...among]}::uuid[])`.execute(db);
  return rows.map(({ pair }) => pair).sort();
}

describe('the closure', () => {
  test('of a diamond contains each pair once', async () => {
    const expected = names.flatMap((name) => below[name].map((under) => `${idOf(name)} ${idOf(under)}`));
    expect(await closure(ids.values())).toEqual(expected.sort());
  });

  // ROLE-8
  test('of random graphs equals a traversal', async () => {
    const teams: string[] = [];
    for (let i = 0; i < 30; i += 1) teams.push(await addTeam(library, `random ${i}`));
    const children = new Map(teams.map((id): [string, string[]] => [id, []]));
    let state = 7;
    const values = teams.flatMap((parent_id, above) =>
      teams.slice(above + 1).flatMap((team_id) => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        if ((state >>> 16) % 8 !== 0) return [];
        children.get(parent_id)?.push(team_id);
        return [{ team_id, parent_id }];
      }),
    );
    expect(values.length).toBeGreaterThan(20);
    await db.insertInto('team_parents').values(values).execute();
    const under = (id: string): Set<string> =>
      new Set([id, ...(children.get(id) ?? []).flatMap((child) => [...under(child)])]);
    const walked = teams.flatMap((id) => [...under(id)].map((found) => `${id} ${found}`));
    expect(await closure(teams)).toEqual(walked.sort());
  });

  test('refuses a cycle of five teams at any link, without a change', async () => {
    const ring: string[] = [];
    for (let i = 0; i < 5; i += 1) ring.push(await addTeam(library, `ring ${i}`));
    const at = (i: number) => ring[i % 5] ?? '';
    for (let open = 0; open < 5; open += 1) {
      for (let i = 1; i < 5; i += 1) await link(at(open + i), at(open + i + 1));
      const before = await closure(ring);
      expect(before).toHaveLength(15);
      await expect(link(at(open), at(open + 1))).rejects.toMatchObject({ code: 'VT001' });
      await expect(link(at(open), at(open))).rejects.toThrow();
      expect(await closure(ring)).toEqual(before);
      await db.deleteFrom('team_parents').where('team_id', 'in', ring).execute();
    }
  });

  test('loses the rows of a removed team', async () => {
    const [top, middle] = [await addTeam(library, 'top'), await addTeam(library, 'middle')];
    const bottom = await addTeam(library, 'bottom');
    await link(middle, top);
    await link(bottom, middle);
    expect(await closure([top])).toHaveLength(3);
    await db.deleteFrom('teams').where('id', '=', middle).execute();
    expect(await closure([top, middle, bottom])).toEqual([`${top} ${top}`, `${bottom} ${bottom}`].sort());
  });

  test('of 400 teams is rebuilt correctly', async () => {
    await sql`insert into teams (slug, name)
      select 'many ' || i, 'Many' from generate_series(1, 400) i`.execute(db);
    // Five children each: a tree of five levels.
    await sql`insert into team_parents (team_id, parent_id) select t.id, p.id
      from generate_series(2, 400) i join teams t on t.slug = 'many ' || i
      join teams p on p.slug = 'many ' || (i + 3) / 5`.execute(db);
    const ends = db.selectFrom('teams').select('id').where('slug', 'in', ['many 1', 'many 400']);
    const [first = '', last = ''] = (await ends.orderBy('slug').execute()).map(({ id }) => id);
    await link(idOf('press'), last);
    expect(await closure([first])).toHaveLength(401);
    const body = { capability: 'assets.admin', team_id: first } as const;
    await root.ok('grantCapability', { params: { ref: ann.ref }, body });
    expect(await opensDrafts()).toEqual(['press']);
  });
});
