import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant } from '../../posts/people.ts';
import type { Visitor } from '../../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { countStatements } from '../../support/statements.ts';
import { define, nowhere } from './fields.ts';

let library: Library;
let root: Account;
let owner: Account;
let stranger: Account;
let member: Account;
let holder: Account;
let inTeam: Account;
let team: string;
let open: string;
let gated: string;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  [owner, stranger, member, holder, inTeam] = await Promise.all([
    arrive(library, 'owner'),
    arrive(library, 'stranger'),
    arrive(library, 'member'),
    arrive(library, 'holder'),
    arrive(library, 'in-team'),
  ]);
  team = await addTeam(library, 'studio', [owner, member]);
  await grant(library, holder, 'jobs.read');
  await grant(library, inTeam, 'jobs.read', team);
  open = await define(library, 'text', { code: 'open', display_order: 2 });
  gated = await define(library, 'text', { code: 'gated', display_order: 1, read_capability: 'jobs.read' });
  asset = await make({});
});

/** Creates an asset of the owner with both values and without a title to mirror. */
async function make(fields: Record<string, string>): Promise<string> {
  const { id } = await upload(owner, plainFile(), { title: '', team_id: team, ...fields });
  await owner.ok('setAssetFieldValue', { params: { id, field_id: open }, body: { value_text: 'seen' } });
  await root.ok('setAssetFieldValue', { params: { id, field_id: gated }, body: { value_text: 'secret' } });
  return id;
}

/** Returns the codes that a visitor receives, or the status of an error. */
async function codes(as: Visitor, id = asset): Promise<string[] | number> {
  const answer = await as.send(`/assets/${id}/fields`);
  if (answer.status !== 200) return answer.status;
  return JSON.parse(answer.text).items.map((value: { field_code: string }) => value.field_code);
}

describe('GET /assets/{id}/fields', () => {
  // VALUE-8
  test('gives each caller the fields they may read, in the order of the fields', async () => {
    const mask = await actAs(library, root, stranger);
    const script = await bearer(library, holder, ['read']);
    const mute = await bearer(library, holder, ['posts.write']);
    const seen = {
      root: await codes(root),
      owner: await codes(owner),
      stranger: await codes(stranger),
      member: await codes(member),
      holder: await codes(holder),
      inTeam: await codes(inTeam),
      mask: await codes(mask),
      script: await codes(script),
      mute: await codes(mute),
      anonymous: await codes(library.anonymous()),
    };
    expect(seen).toEqual({
      root: ['gated', 'open'],
      owner: ['open'],
      stranger: ['open'],
      member: ['open'],
      holder: ['gated', 'open'],
      inTeam: ['gated', 'open'],
      mask: ['open'],
      script: ['gated', 'open'],
      mute: 403,
      anonymous: 401,
    });
    await library.setPublicMode(true);
    expect(await codes(library.anonymous())).toEqual(['open']);
    await library.setPublicMode(false);
  });

  // VALUE-8, VALUE-17
  test('a capability held in a team counts for that team’s assets alone', async () => {
    const other = await make({});
    await library.deps.db.updateTable('assets').set({ team_id: null }).where('id', '=', other).execute();
    expect(await codes(inTeam, other)).toEqual(['open']);
    expect(await codes(holder, other)).toEqual(['gated', 'open']);
  });

  // VALUE-8
  test('an asset outside the read rule is 404, and a withheld one shows nothing', async () => {
    const restricted = await make({ sensitivity: 'restricted' });
    const ofTeam = await make({ sensitivity: 'team' });
    const draft = await make({ status: 'draft' });
    expect(await codes(holder, restricted)).toEqual([]);
    expect(await codes(stranger, ofTeam)).toEqual([]);
    expect(await codes(member, ofTeam)).toEqual(['open']);
    expect(await codes(stranger, draft)).toBe(404);
    expect(await codes(stranger, nowhere)).toBe(404);
    await library.setPublicMode(true);
    for (const id of [restricted, ofTeam, draft]) expect(await codes(library.anonymous(), id)).toBe(404);
    await library.setPublicMode(false);
    await owner.ok('deleteAsset', { params: { id: draft }, body: undefined });
    for (const who of [owner, root]) expect(await codes(who, draft)).toBe(404);
    expect((await stranger.send('/assets/x/fields')).status).toBe(400);
  });

  test('is two statements, however many values there are', async () => {
    const many = await make({});
    const { rows } = await sql<{ id: string }>`
      insert into fields (code, label, type) select 'many_' || n, 'Many', 'text' from generate_series(1, 60) n
      returning id`.execute(library.deps.db);
    const count = async () =>
      (await countStatements(library, () => owner.ok('listAssetFieldValues', { params: { id: many } })))[1];
    await count();
    const few = await count();
    await library.deps.db
      .insertInto('asset_field_values')
      .values(
        rows.map(({ id }) => ({ asset_id: many, field_id: id, value_text: 'x', set_by: 'import' as const })),
      )
      .execute();
    expect(await count()).toBe(few);
    expect(few).toBe(3);
    await sql`update fields set status = 'archived' where code like 'many_%'`.execute(library.deps.db);
  });
});

describe('a field that the caller may not read looks like an unknown one', () => {
  const write = (as: Visitor, field_id: string, value_text = 'x') =>
    as.refused('setAssetFieldValue', { params: { id: asset, field_id }, body: { value_text } });

  // VALUE-9
  test('writing, clearing and its history are the 404 of a field there never was', async () => {
    const params = { id: asset, field_id: gated };
    const none = { status: 404, error: 'not found' };
    expect(await write(owner, gated)).toEqual(none);
    expect(await write(owner, nowhere)).toEqual(none);
    expect(await owner.refused('clearAssetFieldValue', { params, body: undefined })).toEqual(none);
    for (const who of [owner, stranger])
      expect(await who.refused('listAssetFieldHistory', { params })).toEqual(none);
    expect((await holder.ok('listAssetFieldHistory', { params })).items.length).toBe(1);
    expect((await library.anonymous().refused('listAssetFieldHistory', { params })).status).toBe(401);
    const body = { file_hash: '0'.repeat(64), field_values: [{ field_code: 'gated', value_text: 'x' }] };
    const created = await owner.refused('createAsset', { body });
    expect(created.status).toBe(404);
  });

  test('the history of a withheld asset is empty, of one that is not given 404', async () => {
    const restricted = await make({ sensitivity: 'restricted' });
    const draft = await make({ status: 'draft' });
    const ask = (as: Visitor, id: string, field_id = open) =>
      as
        .send(`/assets/${id}/fields/${field_id}/history`)
        .then(({ status, text }) => [status, JSON.parse(text).items?.length]);
    expect(await ask(stranger, restricted)).toEqual([200, 0]);
    expect(await ask(stranger, restricted, gated)).toEqual([200, 0]);
    expect(await ask(inTeam, restricted, gated)).toEqual([200, 0]);
    expect(await ask(owner, restricted)).toEqual([200, 1]);
    expect(await ask(stranger, draft)).toEqual([404, undefined]);
  });
});
