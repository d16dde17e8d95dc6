import type { Team } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addTeam, arrive, grant, nowhere } from '../posts/people.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg, unknownBytes } from '../support/pictures.ts';

let library: Library;
let root: Account;
let writer: Account;
/** The owner of the pictures, a member of both teams. */
let owner: Account;
/** A member and follower of the team without further rights. */
let fan: Account;
let team: string;
let other: string;
let hash: string;
let hero: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  writer = await arrive(library, 'writer');
  await grant(library, writer, 'teams.write');
  owner = await arrive(library, 'owner');
  fan = await arrive(library, 'fan', 'viewer');
  team = await addTeam(library, 'print', [owner, fan]);
  other = await addTeam(library, 'press', [owner]);
  await fan.ok('followTeam', { params: { id: team } });
  hash = (await upload(owner, await jpeg(80, 60))).file_hash ?? '';
  await library.runJobs();
});

beforeEach(async () => {
  hero = await picture();
  await choose(hero);
});

async function picture(more: { sensitivity?: 'public' | 'team' | 'restricted'; mature?: boolean } = {}) {
  const asset = await owner.ok('createAsset', {
    body: { file_hash: hash, sensitivity: 'public', team_id: team, ...more },
  });
  return asset.id;
}

const choose = (asset_id: string | null) =>
  writer.ok('setTeamHero', { params: { id: team }, body: { asset_id } });
const refusal = (asset_id: string) =>
  writer.refused('setTeamHero', { params: { id: team }, body: { asset_id } });

/** Returns the team as each operation shows it: single, list, memberships and followed. */
async function reads(): Promise<(Team | undefined)[]> {
  const lists = [
    (await fan.ok('listTeams')).items,
    await fan.ok('listMyTeams'),
    await fan.ok('listFollowedTeams'),
  ];
  return [
    await fan.ok('getTeam', { params: { id: team } }),
    ...lists.map((teams) => teams.find(({ id }) => id === team)),
  ];
}

async function expectTold(id: string): Promise<void> {
  expect((await reads()).map((one) => one?.hero_asset_id)).toEqual([id, id, id, id]);
}

/** Absent, not null (HTTP-6). */
async function expectAbsent(): Promise<void> {
  const told = await reads();
  expect(told.map((one) => one?.id)).toEqual([team, team, team, team]);
  for (const one of told) expect(Object.keys(one ?? {})).not.toContain('hero_asset_id');
}

/** Writes directly to the row, like a future rule or migration. */
const set = (id: string, values: { team_id?: string | null; mature?: boolean }) =>
  library.deps.db.updateTable('assets').set(values).where('id', '=', id).execute();
const patch = (body: {
  sensitivity?: 'public' | 'team' | 'restricted';
  status?: 'active' | 'archived' | 'draft';
}) => owner.ok('updateAsset', { params: { id: hero }, body });

describe('PUT /teams/{id}/hero', () => {
  // TEAM-7
  test('sets a public asset of the team as its picture, with its `col` rendition', async () => {
    const next = await picture();
    expect(await choose(next)).toMatchObject({ id: team, hero_asset_id: next });
    await expectTold(next);
    expect((await fan.send(`/assets/${next}/variants/col`)).status).toBe(200);
  });

  // TEAM-7
  test('null removes it, idempotently', async () => {
    expect(Object.keys(await choose(null))).not.toContain('hero_asset_id');
    await expectAbsent();
    await choose(null);
  });

  test('is audited with the picture', async () => {
    const next = await picture();
    await choose(next);
    const event = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'target_kind', 'metadata'])
      .where('target_id', '=', team)
      .orderBy('occurred_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    expect(event).toEqual({ event: 'team.updated', target_kind: 'team', metadata: { hero_asset_id: next } });
  });

  test('changes updated_at', async () => {
    const before = await fan.ok('getTeam', { params: { id: team } });
    const after = await choose(null);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  });

  const inadmissible: [string, () => Promise<string>][] = [
    [
      'another team’s',
      async () =>
        (await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public', team_id: other } }))
          .id,
    ],
    [
      'no team’s',
      async () => (await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } })).id,
    ],
    ['a restricted one', () => picture({ sensitivity: 'restricted' })],
    ['one for the team alone', () => picture({ sensitivity: 'team' })],
    ['a mature one', () => picture({ mature: true })],
    [
      'a deleted one',
      async () => {
        const id = await picture();
        await owner.ok('deleteAsset', { params: { id }, body: undefined });
        return id;
      },
    ],
    [
      'one that who chooses is not given, a draft of somebody else’s,',
      async () => {
        const id = await picture();
        await owner.ok('updateAsset', { params: { id }, body: { status: 'draft' } });
        return id;
      },
    ],
    ['none there is', async () => nowhere],
  ];
  // TEAM-7
  test.each(inadmissible)('answers 404 for %s and keeps the picture', async (_, make) => {
    expect(await refusal(await make())).toEqual({ status: 404, error: 'no public asset of this team' });
    await expectTold(hero);
  });

  test('refuses assets of teams below', async () => {
    const below = await addTeam(library, 'posters', [owner]);
    await writer.ok('addTeamParent', { params: { id: below, parent_id: team } });
    const asset = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', team_id: below },
    });
    expect((await refusal(asset.id)).status).toBe(404);
  });

  test('returns 404 for an unknown team', async () => {
    const body = { asset_id: hero };
    expect((await writer.refused('setTeamHero', { params: { id: nowhere }, body })).status).toBe(404);
  });
});

// TEAM-8
describe('hero_asset_id is absent while the asset', () => {
  const ways: [string, { spoil: () => Promise<unknown>; mend: () => Promise<unknown> }][] = [
    [
      'is restricted',
      { spoil: () => patch({ sensitivity: 'restricted' }), mend: () => patch({ sensitivity: 'public' }) },
    ],
    [
      'is for the team alone, and so not public',
      { spoil: () => patch({ sensitivity: 'team' }), mend: () => patch({ sensitivity: 'public' }) },
    ],
    [
      'is of another team',
      { spoil: () => set(hero, { team_id: other }), mend: () => set(hero, { team_id: team }) },
    ],
    [
      'is of no team',
      { spoil: () => set(hero, { team_id: null }), mend: () => set(hero, { team_id: team }) },
    ],
    [
      'is soft-deleted',
      {
        spoil: () => owner.ok('deleteAsset', { params: { id: hero }, body: undefined }),
        mend: () => owner.ok('restoreAsset', { params: { id: hero } }),
      },
    ],
    ['is mature', { spoil: () => set(hero, { mature: true }), mend: () => set(hero, { mature: false }) }],
    ['is archived', { spoil: () => patch({ status: 'archived' }), mend: () => patch({ status: 'active' }) }],
    [
      'lacks its `col` rendition',
      {
        spoil: () =>
          sql`update files set renditions = renditions - 'col' || jsonb_build_object('kept', renditions->'col')
            where hash = ${hash}`.execute(library.deps.db),
        mend: () =>
          sql`update files set renditions = renditions - 'kept' || jsonb_build_object('col', renditions->'kept')
            where hash = ${hash}`.execute(library.deps.db),
      },
    ],
  ];
  // TEAM-8
  test.each(ways)('%s, and returns with it', async (_, { spoil, mend }) => {
    await expectTold(hero);
    await spoil();
    await expectAbsent();
    await mend();
    await expectTold(hero);
  });

  // TEAM-8
  test('has no `col` yet', async () => {
    const other = await upload(owner, unknownBytes(), { team_id: team }, 'notes.bin');
    await choose(other.id);
    await library.runJobs();
    await expectAbsent();
  });

  test('is purged', async () => {
    await library.deps.db.deleteFrom('assets').where('id', '=', hero).execute();
    await expectAbsent();
  });

  test('is not served to the caller', async () => {
    const { db } = library.deps;
    for (const status of ['draft', 'active', 'archived'] as const) {
      for (const processing_status of ['pending', 'ready', 'failed'] as const) {
        await db.updateTable('assets').set({ status, processing_status }).where('id', '=', hero).execute();
        const { hero_asset_id } = await fan.ok('getTeam', { params: { id: team } });
        const fetched = (await fan.send(`/assets/${hero}/variants/col`)).status;
        const seen = [status, processing_status, hero_asset_id, fetched];
        if (hero_asset_id !== undefined) expect(seen).toEqual([status, processing_status, hero, 200]);
        if (status === 'active' && processing_status === 'ready') expect(hero_asset_id).toBe(hero);
      }
    }
  });

  test('also for administrators, its owner and members', async () => {
    await patch({ sensitivity: 'restricted' });
    for (const visitor of [root, owner, writer]) {
      const shown = await visitor.ok('getTeam', { params: { id: team } });
      expect(Object.keys(shown)).not.toContain('hero_asset_id');
    }
  });
});
