import type { Team } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { openLibrary, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { jpeg, unknownBytes } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

/** The access matrix (server/test/access/surfaces/teams.ts) chooses and shows assets in every state. */

let hero: string;

const library = await openLibrary();
const writer = await library.join('writer');
await grant(library, writer, 'teams.write');
/** The owner of the pictures, a member of both teams. */
const owner = await library.join('owner');
/** A member and follower of the team without further rights. */
const fan = await library.join('fan', 'viewer');
const team = await addTeam(library, 'print', [owner, fan]);
await fan.ok('followTeam', { params: { id: team } });
const hash = (await upload(owner, await jpeg(80, 60))).file_hash ?? '';
await library.runJobs();

beforeEach(async () => {
  hero = await picture();
  await choose(hero);
});

async function picture(team_id = team): Promise<string> {
  return (await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public', team_id } })).id;
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
  const single = await fan.ok('getTeam', { params: { id: team } });
  return [single, ...lists.map((teams) => teams.find(({ id }) => id === team))];
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

const setSensitivity = (sensitivity: 'public' | 'restricted') =>
  owner.ok('updateAsset', { params: { id: hero }, body: { sensitivity } });

describe('PUT /teams/{id}/hero', () => {
  // TEAM-7
  test('sets a public asset of the team as its picture, with its `col` rendition, and is audited', async () => {
    const before = await fan.ok('getTeam', { params: { id: team } });
    const next = await picture();
    const chosen = await choose(next);
    expect(chosen).toMatchObject({ id: team, hero_asset_id: next });
    expect(Date.parse(chosen.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    await expectTold(next);
    expect((await fan.send(`/assets/${next}/variants/col`)).status).toBe(200);
    expect((await auditEvents(library, { target_id: team })).at(-1)).toMatchObject({
      event: 'team.updated',
      target_kind: 'team',
      metadata: { hero_asset_id: next },
    });
  });

  // TEAM-7
  test('null removes it, idempotently', async () => {
    expect(Object.keys(await choose(null))).not.toContain('hero_asset_id');
    await expectAbsent();
    await choose(null);
  });

  // TEAM-7
  test('answers 404 for an asset that the caller may not read or of a team below, and keeps the picture', async () => {
    const draft = await picture();
    await owner.ok('updateAsset', { params: { id: draft }, body: { status: 'draft' } });
    const below = await addTeam(library, 'posters', [owner]);
    await library.deps.db.insertInto('team_parents').values({ team_id: below, parent_id: team }).execute();
    for (const asset_id of [draft, await picture(below), nowhere])
      expect(await refusal(asset_id)).toEqual({ status: 404, error: 'no public asset of this team' });
    await expectTold(hero);
  });
});

// TEAM-8
describe('hero_asset_id is absent while the asset', () => {
  // TEAM-8
  test('is restricted, deleted or without its `col` rendition, and returns with it', async () => {
    const rename = (from: string, to: string) =>
      sql`update files set renditions = renditions - ${from}::text || jsonb_build_object(${to}::text, renditions->${from}::text)
        where hash = ${hash}`.execute(library.deps.db);
    const states: [string, () => Promise<unknown>][] = [
      ['restricted', () => setSensitivity('restricted')],
      ['public', () => setSensitivity('public')],
      ['deleted', () => owner.ok('deleteAsset', { params: { id: hero }, body: undefined })],
      ['restored', () => owner.ok('restoreAsset', { params: { id: hero } })],
      ['without its rendition', () => rename('col', 'kept')],
      ['with its rendition', () => rename('kept', 'col')],
    ];
    for (const [index, [state, change]] of states.entries()) {
      await change();
      const told = await reads();
      expect([state, ...told.map((one) => one?.hero_asset_id)]).toEqual([
        state,
        ...told.map(() => (index % 2 === 0 ? undefined : hero)),
      ]);
    }
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
});
