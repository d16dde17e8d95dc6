import type { GivenValue, ValueWrite } from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { purge } from '../../../src/trash/jobs/purge.ts';
import { addTeam, arrive, bearer, grant } from '../../posts/people.ts';
import type { Visitor } from '../../support/client.ts';
import { type Account, type Library, openLibrary } from '../../support/library.ts';
import { define, nowhere } from './fields.ts';

let library: Library;
let root: Account;
let owner: Account;
let stranger: Account;
let shelf: string;

const kind = { subject_kind: 'collection' } as const;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  owner = await arrive(library, 'owner');
  stranger = await arrive(library, 'stranger');
});

beforeEach(async () => {
  shelf = (await owner.ok('createCollection', { body: { name: 'Shelf' } })).id;
});

afterEach(async () => {
  const { db } = library.deps;
  await db.updateTable('fields').set({ status: 'archived' }).where('mirrors_column', 'is', null).execute();
});

const put = (field_id: string, body: ValueWrite, as: Visitor = owner, id = shelf) =>
  as.ok('setCollectionFieldValue', { params: { id, field_id }, body });
const refusal = (field_id: string, body: ValueWrite, as: Visitor = owner, id = shelf) =>
  as.refused('setCollectionFieldValue', { params: { id, field_id }, body });
const clear = (field_id: string, as: Visitor = owner) =>
  as.ok('clearCollectionFieldValue', { params: { id: shelf, field_id }, body: undefined });
const values = async (as: Visitor = owner, id = shelf) =>
  (await as.ok('listCollectionFieldValues', { params: { id } })).items;
const create = (field_values: GivenValue[], as: Visitor = owner) =>
  as.ok('createCollection', { body: { name: 'New', field_values } });
const refusedCreate = (field_values: GivenValue[], as: Visitor = owner) =>
  as.refused('createCollection', { body: { name: 'New', field_values } });

describe('field values of a collection', () => {
  // VALUE-21
  test('are written by callers who may edit it and read by callers who may open it', async () => {
    const field = await define(library, 'text', kind);
    const written = await put(field, { value_text: 'x' });
    expect(written).toMatchObject({ value_text: 'x', set_by: 'manual', set_by_user_ref: owner.ref });
    expect(await values(stranger)).toEqual([written]);
    expect((await refusal(field, { value_text: 'y' }, stranger)).status).toBe(403);
    expect(await put(field, { value_text: 'y' }, root)).toMatchObject({ set_by_user_ref: root.ref });
    const script = await bearer(library, owner, ['posts.write']);
    expect(await put(field, { value_text: 'z' }, script)).toMatchObject({ set_by: 'api' });
    const unscoped = await bearer(library, owner, ['assets.write']);
    expect((await refusal(field, { value_text: 'z' }, unscoped)).status).toBe(403);
    await clear(field);
    expect(await values()).toEqual([]);
    const { items } = await owner.ok('listCollectionFieldHistory', {
      params: { id: shelf, field_id: field },
    });
    expect(items.map(({ after }) => after?.value_text ?? null)).toEqual([null, 'z', 'y', 'x']);
  });

  test('a private collection is 404 on every one of these paths', async () => {
    const field = await define(library, 'text', kind);
    await put(field, { value_text: 'x' });
    await owner.ok('updateCollection', { params: { id: shelf }, body: { visibility: 'private' } });
    const none = { status: 404, error: 'not found' };
    for (const id of [shelf, nowhere]) {
      expect(await stranger.refused('listCollectionFieldValues', { params: { id } })).toEqual(none);
      const params = { id, field_id: field };
      expect(await stranger.refused('listCollectionFieldHistory', { params })).toEqual(none);
      expect(await refusal(field, { value_text: 'y' }, stranger, id)).toEqual(none);
      expect(await stranger.refused('clearCollectionFieldValue', { params, body: undefined })).toEqual(none);
    }
    await owner.ok('updateCollection', { params: { id: shelf }, body: { visibility: 'public' } });
    expect(
      (await library.anonymous().refused('listCollectionFieldValues', { params: { id: shelf } })).status,
    ).toBe(401);
    await library.setPublicMode(true);
    expect((await values(library.anonymous())).length).toBe(1);
    await library.setPublicMode(false);
  });

  // VALUE-21
  test('omits fields that the caller may not read, and ignores capabilities held in a team', async () => {
    const gated = await define(library, 'text', { ...kind, read_capability: 'jobs.read' });
    const held = await define(library, 'text', { ...kind, write_capability: 'jobs.read' });
    await put(gated, { value_text: 'secret' }, root);
    const team = await addTeam(library, `team-${Date.now()}`, [owner]);
    const inTeam = await arrive(library, `in-team-${Date.now()}`);
    await grant(library, inTeam, 'jobs.read', team);
    for (const who of [owner, stranger, inTeam]) expect(await values(who)).toEqual([]);
    expect((await refusal(gated, { value_text: 'x' })).status).toBe(404);
    expect((await refusal(held, { value_text: 'x' })).status).toBe(403);
    const params = { id: shelf, field_id: gated };
    expect((await owner.refused('listCollectionFieldHistory', { params })).status).toBe(404);
    const holder = await arrive(library, `holder-${Date.now()}`);
    await grant(library, holder, 'jobs.read');
    expect((await values(holder)).map(({ value_text }) => value_text)).toEqual(['secret']);
  });

  test('asset fields do not apply to collections, nor collection fields to assets', async () => {
    const ofAssets = await define(library, 'text', {});
    expect((await refusal(ofAssets, { value_text: 'x' })).status).toBe(404);
    expect((await refusal('00000000-0000-4000-8000-000000000301', { value_text: 'x' })).status).toBe(404);
    expect((await refusedCreate([{ field_id: ofAssets, value_text: 'x' }])).status).toBe(404);
  });

  // VALUE-21
  test('types, terms, patterns and concurrency are as on assets', async () => {
    const terms = [{ value: 'red', label: 'Crimson' }];
    const select = await define(library, 'select', { ...kind, terms });
    expect(await put(select, { value_text: 'crimson' })).toMatchObject({
      value_text: 'red',
      resolved_options: [{ value: 'red', label: 'Crimson', status: 'active' }],
    });
    expect((await refusal(select, { value_text: 'green' })).status).toBe(422);
    const number = await define(library, 'number', kind);
    expect((await refusal(number, { value_text: '1' })).status).toBe(400);
    const coded = await define(library, 'text', { ...kind, regexp_filter: '[0-9]+' });
    expect((await refusal(coded, { value_text: 'x' })).status).toBe(422);
    const first = await put(coded, { value_text: '1', if_absent: true });
    await put(coded, { value_text: '2', if_unchanged_since: first.set_at });
    expect((await refusal(coded, { value_text: '3', if_unchanged_since: first.set_at })).status).toBe(409);
    const open = await define(library, 'multi_select', { ...kind, open_vocabulary: true });
    expect((await put(open, { value_options: ['New one'] }, root)).value_options).toEqual(['new-one']);
  });

  test('go with a collection that is purged, and their history with them', async () => {
    const field = await define(library, 'text', kind);
    await put(field, { value_text: 'x' });
    const { db } = library.deps;
    await db
      .updateTable('collections')
      .set({ deleted_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', shelf)
      .execute();
    expect((await owner.refused('listCollectionFieldValues', { params: { id: shelf } })).status).toBe(404);
    await purge(db);
    const { rows } = await sql<{
      left: number;
    }>`select (select count(*) from field_value_history where subject_id = ${shelf})
      + (select count(*) from collection_field_values where collection_id = ${shelf}) as left`.execute(db);
    expect(rows).toEqual([{ left: 0 }]);
  });
});

describe('a new collection', () => {
  // COLLECTION-15
  test('without a value of a required field is 422, named, and is not made', async () => {
    await define(library, 'text', { ...kind, code: 'brief', required: true });
    await define(library, 'text', { ...kind, code: 'theme', required: true });
    // The caller cannot see or write these fields, so they are not required.
    await define(library, 'text', { ...kind, code: 'unseen', required: true, read_capability: 'jobs.read' });
    await define(library, 'text', {
      ...kind,
      code: 'not_mine',
      required: true,
      write_capability: 'jobs.read',
    });
    await define(library, 'text', {
      ...kind,
      code: 'defaulted',
      required: true,
      default_value: { kind: 'literal', value_text: 'x' },
    });
    await define(library, 'text', { code: 'of_assets', required: true });
    const count = async () => (await library.deps.db.selectFrom('collections').select('id').execute()).length;
    const before = await count();
    expect(await refusedCreate([])).toEqual({ status: 422, error: 'required: brief, theme' });
    expect(await refusedCreate([{ field_code: 'theme', value_text: 'y' }])).toEqual({
      status: 422,
      error: 'required: brief',
    });
    expect((await owner.refused('createCollection', { body: { name: 'New' } })).status).toBe(422);
    expect(await count()).toBe(before);
    const { id } = await create([
      { field_code: 'theme', value_text: 'y' },
      { field_code: 'brief', value_text: 'z' },
    ]);
    expect(
      (await values(owner, id)).map(({ field_code, value_text, set_by }) => [field_code, value_text, set_by]),
    ).toEqual([
      ['brief', 'z', 'manual'],
      ['defaulted', 'x', 'default'],
      ['theme', 'y', 'manual'],
    ]);
    // It applies to creation only: a required value may be removed.
    const theme = (await values(owner, id)).find(({ field_code }) => field_code === 'theme')?.field_id ?? '';
    await owner.ok('clearCollectionFieldValue', { params: { id, field_id: theme }, body: undefined });
  });

  // FIELD-17
  test('may be given a read-only field’s first value; every later write is refused', async () => {
    const field = await define(library, 'text', { ...kind, code: 'sealed', read_only: true });
    const { id } = await create([{ field_code: 'sealed', value_text: 'once' }]);
    const empty = (await create([])).id;
    for (const collection of [id, empty]) {
      for (const who of [owner, root]) {
        const params = { id: collection, field_id: field };
        for (const refused of [
          await refusal(field, { value_text: 'again' }, who, collection),
          await who.refused('clearCollectionFieldValue', { params, body: undefined }),
        ]) {
          expect(refused.status).toBe(403);
          expect(refused.error).toContain('sealed');
        }
      }
    }
    expect((await values(owner, id)).map(({ value_text }) => value_text)).toEqual(['once']);
    expect(await values(owner, empty)).toEqual([]);
  });

  test('the first value of a read-only field still is checked and needs the write capability', async () => {
    await define(library, 'text', {
      ...kind,
      code: 'strict',
      read_only: true,
      regexp_filter: '[0-9]+',
      write_capability: 'jobs.read',
    });
    expect((await refusedCreate([{ field_code: 'strict', value_text: '1' }])).status).toBe(403);
    expect((await refusedCreate([{ field_code: 'strict', value_text: 'x' }], root)).status).toBe(422);
    await create([{ field_code: 'strict', value_text: '1' }], root);
  });

  // VALUE-19
  test('malformed values are 400', async () => {
    await define(library, 'text', { ...kind, code: 'plain' });
    for (const given of [
      'x',
      {},
      [1],
      [{ field_code: 'plain', set_by: 'exif', value_text: 'x' }],
      [{ field_code: 'plain', value_num: 1 }],
    ]) {
      const answer = await owner.send('/collections', {
        method: 'POST',
        body: { name: 'New', field_values: given },
      });
      expect([given, answer.status]).toEqual([given, 400]);
    }
  });
});
