import type { FieldValue, ValueWrite } from '@vitrine/contract/field-values';
import type { FieldType } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant } from '../../posts/people.ts';
import type { Visitor } from '../../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { type Defined, define, nowhere } from './fields.ts';

let library: Library;
let root: Account;
let owner: Account;
let stranger: Account;
let team: string;
let hash: string;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  owner = await arrive(library, 'owner');
  stranger = await arrive(library, 'stranger');
  team = await addTeam(library, 'studio', [owner]);
  hash = (await upload(owner, plainFile())).file_hash ?? '';
});

beforeEach(async () => {
  const made = await owner.ok('createAsset', {
    body: { file_hash: hash, sensitivity: 'public', title: 'Ridge', team_id: team },
  });
  asset = made.id;
});

const put = (field_id: string, body: ValueWrite, as: Visitor = owner, id = asset) =>
  as.ok('setAssetFieldValue', { params: { id, field_id }, body });
const refusal = (field_id: string, body: ValueWrite, as: Visitor = owner, id = asset) =>
  as.refused('setAssetFieldValue', { params: { id, field_id }, body });
const clear = (field_id: string, as: Visitor = owner, id = asset) =>
  as.ok('clearAssetFieldValue', { params: { id, field_id }, body: undefined });
const clearRefusal = (field_id: string, as: Visitor = owner, id = asset) =>
  as.refused('clearAssetFieldValue', { params: { id, field_id }, body: undefined });
const values = async (as: Visitor = owner, id = asset) =>
  (await as.ok('listAssetFieldValues', { params: { id } })).items;
/** Returns the value of one field as the list shows it. */
const valueIn = async (field_id: string, as: Visitor = owner, id = asset) =>
  (await values(as, id)).find((value) => value.field_id === field_id);
const history = async (field_id: string, as: Visitor = owner) =>
  (await as.ok('listAssetFieldHistory', { params: { id: asset, field_id } })).items;
const sent = async (field_id: string, body: string, as: Visitor = owner) =>
  as.send(`/assets/${asset}/fields/${field_id}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/json' },
  });

const colours: Defined['terms'] = [
  { value: 'red', label: 'Crimson', aliases: ['rouge'] },
  { value: 'blue', label: 'Blue' },
  { value: 'old-red', label: 'Old red', status: 'archived', replaced_by: 'red' },
  { value: 'older-red', label: 'Older red', status: 'archived', replaced_by: 'old-red' },
  { value: 'gone', label: 'Gone', status: 'archived' },
  { value: 'fading', label: 'Fading', status: 'deprecated' },
  // A label that is another term's slug: the slug wins.
  { value: 'sky', label: 'blue' },
];

// VALUE-1
describe('a value is written in the member of its type and read back', () => {
  const cases: [FieldType, ValueWrite, Partial<FieldValue>][] = [
    ['text', { value_text: '  Two  blanks ' }, { value_text: '  Two  blanks ' }],
    ['text', { value_text: '日本 🏔️' }, { value_text: '日本 🏔️' }],
    ['longtext', { value_text: 'a\nb' }, { value_text: 'a\nb' }],
    ['rich_text', { value_text: '<p>A <b>b</b></p>' }, { value_text: '<p>A <b>b</b></p>' }],
    ['number', { value_num: -1.5 }, { value_num: -1.5 }],
    ['number', { value_num: 1e308 }, { value_num: 1e308 }],
    ['number', { value_num: 2 ** 53 }, { value_num: 2 ** 53 }],
    ['number', { value_num: 0 }, { value_num: 0 }],
    ['boolean', { value_num: 0 }, { value_num: 0 }],
    ['boolean', { value_num: 1 }, { value_num: 1 }],
    ['date', { value_date: '2024-02-29' }, { value_date: '2024-02-29T00:00:00Z' }],
    ['date', { value_date: '2026-11-21T23:30:00-05:00' }, { value_date: '2026-11-21T00:00:00Z' }],
    ['datetime', { value_date: '2026-11-21T23:30:00.5-05:00' }, { value_date: '2026-11-22T04:30:00.5Z' }],
    ['text', { value_text: 'x', value_num: null }, { value_text: 'x' }],
  ];

  // VALUE-1
  test.each(cases)('%s %j', async (type, body, read) => {
    const field = await define(library, type);
    const written = await put(field, body);
    expect(written).toEqual({
      field_id: field,
      field_code: written.field_code,
      field_label: written.field_code,
      type,
      ...read,
      set_by: 'manual',
      set_at: written.set_at,
      set_by_user_ref: owner.ref,
    });
    expect(await valueIn(field)).toEqual(written);
  });

  const wrong: [FieldType, ValueWrite][] = [
    ['text', { value_num: 1 }],
    ['text', { value_text: 'a', value_num: 1 }],
    ['text', {}],
    ['text', { value_text: null }],
    ['text', { value_text: '' }],
    ['text', { value_text: 'x'.repeat(2001) }],
    ['longtext', { value_text: 'x'.repeat(50_001) }],
    ['rich_text', { value_text: '<p></p><script>1</script>' }],
    ['number', { value_text: '1' }],
    ['boolean', { value_num: 2 }],
    ['boolean', { value_num: 0.5 }],
    ['date', { value_date: '2024-02-30' }],
    ['date', { value_date: '2023-02-29' }],
    ['date', { value_date: '0000-01-01' }],
    ['date', { value_date: '2024-2-3' }],
    ['date', { value_date: 'infinity' }],
    ['date', { value_date: '12024-01-01' }],
    ['date', { value_date: '2024-01-01T25:00:00Z' }],
    ['datetime', { value_date: '2024-01-01' }],
    ['datetime', { value_date: '2024-01-01T00:00:00' }],
    ['datetime', { value_date: '2024-02-31T00:00:00Z' }],
    ['datetime', { value_date: '2024-01-01T23:59:60Z' }],
    ['datetime', { value_date: '0001-01-01T00:00:00+14:00' }],
    ['datetime', { value_date: '9999-12-31T23:59:59-14:00' }],
    ['multi_select', { value_text: 'red' }],
    ['multi_select', { value_options: [] }],
    ['select', { value_options: ['red'] }],
    ['reference', { value_text: nowhere }],
  ];

  // VALUE-1
  test.each(wrong)('%s %j is 400 and writes nothing', async (type, body) => {
    const field = await define(library, type, { terms: [{ value: 'red' }] });
    expect((await refusal(field, body)).status).toBe(400);
    expect(await valueIn(field)).toBeUndefined();
  });

  test('a value that is not a number: 1e400, NaN, Infinity, a text', async () => {
    const field = await define(library, 'number');
    for (const number of ['1e400', '-1e400', 'NaN', 'Infinity', '"1"', '[1]', '{}', 'true']) {
      expect([number, (await sent(field, `{"value_num":${number}}`)).status]).toEqual([number, 400]);
    }
    expect(await valueIn(field)).toBeUndefined();
  });

  // VALUE-6
  test('an unknown property is 400, so callers cannot claim who set a value', async () => {
    const field = await define(library, 'text');
    for (const claim of [
      '"set_by":"exif"',
      '"set_by_user_ref":1',
      '"set_at":"2020-01-01T00:00:00Z"',
      '"value":"x"',
    ]) {
      expect((await sent(field, `{"value_text":"x",${claim}}`)).status).toBe(400);
    }
  });

  // VALUE-5
  test('DELETE removes the value and is idempotent', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'x' });
    await clear(field);
    expect(await valueIn(field)).toBeUndefined();
    await clear(field);
  });

  // VALUE-4
  test('operators bound a value by its options: 422', async () => {
    const cases: [FieldType, Record<string, unknown>, ValueWrite, ValueWrite][] = [
      ['text', { max_length: 3 }, { value_text: 'four' }, { value_text: '🏔️' }],
      ['rich_text', { max_length: 3 }, { value_text: '<p>four</p>' }, { value_text: '<p>abc</p>' }],
      ['rich_text', { max_length: 3 }, { value_text: 'a&amp;bc' }, { value_text: '<p>a&amp;b</p>' }],
      ['number', { min: 1, max: 5, integer: true }, { value_num: 2.5 }, { value_num: 2 }],
      ['number', { min: 1 }, { value_num: 0 }, { value_num: 1 }],
      ['date', { min: '2024-01-01' }, { value_date: '2023-12-31' }, { value_date: '2024-01-01' }],
      ['multi_select', { max_items: 1 }, { value_options: ['red', 'blue'] }, { value_options: ['red'] }],
    ];
    for (const [type, options, bad, good] of cases) {
      const field = await define(library, type, { options, terms: [{ value: 'red' }, { value: 'blue' }] });
      expect((await refusal(field, bad)).status).toBe(422);
      await put(field, good);
    }
  });
});

// VALUE-22
test('terms are counted after resolution, so two names of one term count once', async () => {
  const terms = [{ value: 'red', label: 'Crimson' }, { value: 'blue' }, { value: 'green' }];
  const field = await define(library, 'multi_select', { options: { min_items: 2, max_items: 2 }, terms });
  expect(await refusal(field, { value_options: ['red', ' CRIMSON '] })).toMatchObject({
    status: 422,
    error: expect.stringContaining('fewer than 2 terms'),
  });
  expect(await refusal(field, { value_options: ['red', 'blue', 'green'] })).toMatchObject({ status: 422 });
  expect((await put(field, { value_options: ['Red', 'crimson', 'blue'] })).value_options).toEqual([
    'red',
    'blue',
  ]);
});

describe('who wrote a value: set_by', () => {
  // VALUE-6
  test('is manual for a session and api for a token, also during impersonations', async () => {
    const field = await define(library, 'text');
    expect(await put(field, { value_text: 'a' })).toMatchObject({
      set_by: 'manual',
      set_by_user_ref: owner.ref,
    });
    const script = await bearer(library, owner, ['assets.write', 'read']);
    expect(await put(field, { value_text: 'b' }, script)).toMatchObject({
      set_by: 'api',
      set_by_user_ref: owner.ref,
    });
    const mask = await actAs(library, root, owner);
    expect(await put(field, { value_text: 'c' }, mask)).toMatchObject({
      set_by: 'manual',
      set_by_user_ref: owner.ref,
    });
    const reader = await bearer(library, owner, ['read']);
    expect(await refusal(field, { value_text: 'd' }, reader)).toMatchObject({ status: 403 });
    expect(await clearRefusal(field, reader)).toMatchObject({ status: 403 });
    expect((await valueIn(field))?.value_text).toBe('c');
  });
});

// VALUE-2
describe('is allowed to callers who may edit the asset and hold the field’s capability', () => {
  // VALUE-3
  test('returns 403 to strangers, 401 to anonymous callers, and 404 to those who cannot read the asset', async () => {
    const field = await define(library, 'text');
    const before = await put(field, { value_text: 'x' });
    expect((await refusal(field, { value_text: 'y' }, stranger)).status).toBe(403);
    expect((await clearRefusal(field, stranger)).status).toBe(403);
    for (const publicMode of [false, true]) {
      await library.setPublicMode(publicMode);
      expect((await refusal(field, { value_text: 'y' }, library.anonymous())).status).toBe(401);
    }
    await library.setPublicMode(false);
    await owner.ok('updateAsset', { params: { id: asset }, body: { status: 'draft' } });
    expect(await refusal(field, { value_text: 'y' }, stranger)).toEqual({ status: 404, error: 'not found' });
    expect(await refusal(field, { value_text: 'y' }, stranger, nowhere)).toEqual({
      status: 404,
      error: 'not found',
    });
    expect(await valueIn(field)).toEqual(before);
    await put(field, { value_text: 'z' }, root);
  });

  test('a team administrator of its assets may', async () => {
    const field = await define(library, 'text');
    const lead = await arrive(library, 'lead-of-values');
    await grant(library, lead, 'assets.admin', team);
    expect(await put(field, { value_text: 'x' }, lead)).toMatchObject({ set_by_user_ref: lead.ref });
  });

  // VALUE-2
  test('without the write capability 403, with it globally or in the asset’s team allowed', async () => {
    const field = await define(library, 'text', { write_capability: 'jobs.read' });
    expect(await refusal(field, { value_text: 'x' })).toMatchObject({ status: 403 });
    expect(await clearRefusal(field)).toMatchObject({ status: 403 });
    const helper = await arrive(library, 'values-helper');
    const mine = await helper.ok('createAsset', {
      body: { file_hash: (await upload(helper, plainFile())).file_hash ?? '' },
    });
    await grant(library, helper, 'jobs.read', team);
    // A grant in another team than that of the asset has no effect.
    expect((await refusal(field, { value_text: 'x' }, helper, mine.id)).status).toBe(403);
    await library.deps.db.updateTable('assets').set({ team_id: team }).where('id', '=', mine.id).execute();
    expect(await put(field, { value_text: 'x' }, helper, mine.id)).toMatchObject({ value_text: 'x' });
    const holder = await arrive(library, 'values-holder');
    await grant(library, holder, 'jobs.read');
    await grant(library, holder, 'assets.admin');
    expect(await put(field, { value_text: 'y' }, holder)).toMatchObject({ value_text: 'y' });
    // system.admin holds them all.
    expect(await put(field, { value_text: 'z' }, root)).toMatchObject({ value_text: 'z' });
  });

  // FIELD-7, VALUE-3, VALUE-5
  test('an archived field is 409, a deprecated one takes no new value but gives up its old one', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'x' });
    const status = (to: 'archived' | 'deprecated') =>
      library.deps.db.updateTable('fields').set({ status: to }).where('id', '=', field).execute();
    await status('deprecated');
    expect((await refusal(field, { value_text: 'y' })).status).toBe(409);
    expect((await valueIn(field))?.value_text).toBe('x');
    await status('archived');
    expect((await refusal(field, { value_text: 'y' })).status).toBe(409);
    expect((await clearRefusal(field)).status).toBe(409);
    expect(await valueIn(field)).toBeUndefined();
    await status('deprecated');
    await clear(field);
    expect(await valueIn(field)).toBeUndefined();
  });

  // FIELD-6, VALUE-3
  test('returns 409 for a field of other asset types, and 404 for a field of collections and an unknown one', async () => {
    const films = await define(library, 'text', { applies_to: [3] });
    expect((await refusal(films, { value_text: 'x' })).status).toBe(409);
    await owner.ok('updateAsset', { params: { id: asset }, body: { asset_type: 3 } });
    await put(films, { value_text: 'x' });
    // After another change of type, the value remains stored and is not shown.
    await owner.ok('updateAsset', { params: { id: asset }, body: { asset_type: 1 } });
    expect(await valueIn(films)).toBeUndefined();
    await owner.ok('updateAsset', { params: { id: asset }, body: { asset_type: 3 } });
    expect((await valueIn(films))?.value_text).toBe('x');
    const other = await define(library, 'text', { subject_kind: 'collection' });
    expect((await refusal(other, { value_text: 'x' })).status).toBe(404);
    expect((await refusal(nowhere, { value_text: 'x' })).status).toBe(404);
    expect((await sent('x', '{"value_text":"x"}')).status).toBe(400);
  });
});

// FIELD-16
describe('read_only', () => {
  // FIELD-16
  test('returns 403 with the name of the field to every caller, for writing and clearing, with a value and without', async () => {
    const field = await define(library, 'text', { code: 'accession', read_only: true });
    const script = await bearer(library, root, ['admin']);
    for (const who of [owner, root, script]) {
      for (const stands of [false, true]) {
        await library.deps.db
          .updateTable('fields')
          .set({ read_only: false })
          .where('id', '=', field)
          .execute();
        await (stands ? put(field, { value_text: 'kept' }, root) : clear(field, root));
        await library.deps.db
          .updateTable('fields')
          .set({ read_only: true })
          .where('id', '=', field)
          .execute();
        for (const refused of [
          await refusal(field, { value_text: 'x' }, who),
          await clearRefusal(field, who),
        ]) {
          expect(refused.status).toBe(403);
          expect(refused.error).toContain('accession');
        }
        expect((await valueIn(field))?.value_text).toBe(stands ? 'kept' : undefined);
      }
    }
  });

  test('with a new asset it is refused at once', async () => {
    await define(library, 'text', { code: 'sealed', read_only: true });
    const body = { file_hash: hash, field_values: [{ field_code: 'sealed', value_text: 'x' }] };
    const refused = await root.refused('createAsset', {
      body: { ...body, file_hash: (await upload(root, plainFile())).file_hash ?? '' },
    });
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.error).toContain('sealed');
  });
});

// FIELD-21
describe('regexp_filter', () => {
  // FIELD-21, VALUE-4
  test('the whole value must match: 422 otherwise', async () => {
    const field = await define(library, 'text', { regexp_filter: 'ab|cd' });
    for (const value_text of ['ab', 'cd']) await put(field, { value_text });
    for (const value_text of ['abx', 'xcd', 'abcd', ' ab', 'AB', 'ab\n'])
      expect((await refusal(field, { value_text })).status).toBe(422);
    expect((await valueIn(field))?.value_text).toBe('cd');
  });

  test('a pattern with catastrophic backtracking in other engines is evaluated at once', async () => {
    const field = await define(library, 'longtext', { regexp_filter: '(a+)+b' });
    const started = Date.now();
    expect((await refusal(field, { value_text: 'a'.repeat(20_000) })).status).toBe(422);
    expect(Date.now() - started).toBeLessThan(20_000);
  });
});

// TERM-3
describe('vocabularies', () => {
  const names: [string, string][] = [
    ['red', 'red'],
    ['RED', 'red'],
    [' red ', 'red'],
    ['Crimson', 'red'],
    ['cRIMSON', 'red'],
    ['rouge', 'red'],
    ['ROUGE ', 'red'],
    ['old-red', 'red'],
    ['Older red', 'red'],
    ['blue', 'blue'],
    ['Blue', 'blue'],
    ['sky', 'sky'],
  ];

  // TERM-3, TERM-4
  test('a slug, a label, an alias and a tombstone resolve to the term’s own slug', async () => {
    const single = await define(library, 'select', { terms: colours });
    const several = await define(library, 'multi_select', { terms: colours });
    for (const [name, slug] of names) {
      expect([name, (await put(single, { value_text: name })).value_text]).toEqual([name, slug]);
      expect([name, (await put(several, { value_options: [name] })).value_options]).toEqual([name, [slug]]);
    }
    expect((await put(several, { value_options: names.map(([name]) => name) })).value_options).toEqual([
      'red',
      'blue',
      'sky',
    ]);
  });

  test.each(['green', 'gone', 'fading', '', ' ', '%', '_ed', "red'; drop table field_terms; --", 're\\d'])(
    'the term %j is refused',
    async (name) => {
      const single = await define(library, 'select', { terms: colours });
      const several = await define(library, 'multi_select', { terms: colours });
      const status = name === '' ? 400 : 422;
      expect((await refusal(single, { value_text: name })).status).toBe(status);
      expect((await refusal(several, { value_options: ['red', name] })).status).toBe(status);
      expect(await valueIn(several)).toBeUndefined();
    },
  );

  // TERM-2, VALUE-23
  test('a deprecated term resolves on assets that carry it, and stays when the rest changes', async () => {
    const several = await define(library, 'multi_select', { terms: colours });
    await library.deps.db
      .insertInto('asset_field_values')
      .values({ asset_id: asset, field_id: several, value_options: ['fading', 'red'], set_by: 'import' })
      .execute();
    expect((await valueIn(several))?.resolved_options).toEqual([
      { value: 'fading', label: 'Fading', status: 'deprecated' },
      { value: 'red', label: 'Crimson', status: 'active' },
    ]);
    expect((await put(several, { value_options: ['fading', 'blue'] })).value_options).toEqual([
      'fading',
      'blue',
    ]);
    await put(several, { value_options: ['blue'] });
    expect((await refusal(several, { value_options: ['fading', 'blue'] })).status).toBe(422);
  });

  // TERM-5
  test('a tree accepts leaves at any depth and refuses branches', async () => {
    const places = await define(library, 'tree', {
      terms: [
        { value: 'europe' },
        { value: 'italy', parent: 'europe' },
        { value: 'rome', label: 'Roma', parent: 'italy' },
        { value: 'asia' },
      ],
    });
    expect((await put(places, { value_text: 'roma' })).value_text).toBe('rome');
    expect((await put(places, { value_text: 'asia' })).value_text).toBe('asia');
    for (const value_text of ['europe', 'italy'])
      expect((await refusal(places, { value_text })).status).toBe(422);
  });
});

// TERM-7
describe('open vocabularies', () => {
  const termsIn = async (field: string) =>
    (
      await library.deps.db
        .selectFrom('field_terms')
        .select(['value', 'label'])
        .where('field_id', '=', field)
        .orderBy('position')
        .execute()
    ).map(({ value, label }) => [value, label]);

  // TERM-7
  test('an unknown term is created from its text when no slug or label matches', async () => {
    const field = await define(library, 'multi_select', { open_vocabulary: true, terms: colours });
    const before = await termsIn(field);
    const written = await put(
      field,
      { value_options: ['CRIMSON', ' Deep Sea ', 'deep sea', 'C', 'C++', 'Été', '日本', '!!'] },
      root,
    );
    expect(written.value_options).toEqual(['red', 'deep-sea', 'c', 'c-2', 'ete', '日本', 'term']);
    expect(await termsIn(field)).toEqual([
      ...before,
      ['deep-sea', 'Deep Sea'],
      ['c', 'C'],
      ['c-2', 'C++'],
      ['ete', 'Été'],
      ['日本', '日本'],
      ['term', '!!'],
    ]);
    expect((await put(field, { value_options: ['c++', 'DEEP-SEA'] })).value_options).toEqual([
      'c-2',
      'deep-sea',
    ]);
  });

  // TERM-9
  test('requires fields.vocabulary.extend to create a term, and no capability to use one', async () => {
    const field = await define(library, 'multi_select', { open_vocabulary: true, terms: colours });
    const curator = await arrive(library, `curator-${Date.now()}`, 'viewer');
    await grant(library, curator, 'assets.admin');
    expect(await refusal(field, { value_options: ['red', 'new'] }, curator)).toMatchObject({ status: 403 });
    expect(await valueIn(field)).toBeUndefined();
    const extender = await arrive(library, `extender-${Date.now()}`, 'viewer');
    await grant(library, extender, 'fields.vocabulary.extend');
    await grant(library, extender, 'assets.admin');
    await put(field, { value_options: ['new'] }, extender);
    expect((await put(field, { value_options: ['New'] })).value_options).toEqual(['new']);
    // A grant in one team suffices, because a vocabulary belongs to no team.
    const leader = await arrive(library, 'leader-of-terms', 'viewer');
    await grant(library, leader, 'fields.vocabulary.extend', team);
    await grant(library, leader, 'assets.admin');
    expect((await put(field, { value_options: ['Newer'] }, leader)).value_options).toEqual(['newer']);
  });

  // TERM-7
  test('is inert on select and tree', async () => {
    for (const type of ['select', 'tree'] as const) {
      const field = await define(library, type, { open_vocabulary: true });
      expect((await refusal(field, { value_text: 'new' }, root)).status).toBe(422);
      expect(await termsIn(field)).toEqual([]);
    }
  });

  test('concurrent writes of the same new term create it once, without a deadlock', async () => {
    const field = await define(library, 'multi_select', { open_vocabulary: true });
    const other = await define(library, 'multi_select', { open_vocabulary: true });
    const assets = await Promise.all(
      Array.from({ length: 6 }, () =>
        owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } }),
      ),
    );
    const written = await Promise.all(
      assets.flatMap(({ id }, index) => [
        put(field, { value_options: [index % 2 === 0 ? 'New Term' : ' new term', `own ${index}`] }, root, id),
        put(other, { value_options: ['Other'] }, root, id),
      ]),
    );
    expect(new Set(written.map(({ value_options: [first] = [] }) => first))).toEqual(
      new Set(['new-term', 'other']),
    );
    expect((await termsIn(field)).length).toBe(7);
    expect(await termsIn(other)).toEqual([['other', 'Other']]);
  });

  test.each(['  ', '\u200b', '\u00ad \u2003'])('%j shows nothing and is not a term', async (blank) => {
    const field = await define(library, 'multi_select', { open_vocabulary: true });
    expect((await refusal(field, { value_options: [blank] }, root)).status).toBe(422);
  });

  // TERM-8
  test('a new term does not take a slug that is an alias of another term', async () => {
    const field = await define(library, 'multi_select', {
      open_vocabulary: true,
      terms: [{ value: 'nyc', label: 'NYC', aliases: ['new-york', 'new-york-2'] }],
    });
    expect((await put(field, { value_options: ['New York'] }, root)).value_options).toEqual(['new-york-3']);
    expect((await put(field, { value_options: ['new-york'] }, root)).value_options).toEqual(['nyc']);
    // Reads it and writes it back unchanged, as a client that adds a term does.
    const { options } = await root.ok('getField', { params: { id: field } });
    await root.ok('updateField', { params: { id: field }, body: { options } });
  });
});

describe('references', () => {
  // VALUE-11
  test('must name an asset that the writer can see; missing, deleted and withheld ones return the same 422', async () => {
    const field = await define(library, 'reference');
    const target = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', title: 'Target' },
    });
    expect(await put(field, { value_ref: target.id.toUpperCase() })).toMatchObject({
      value_ref: target.id,
      resolved_reference: { id: target.id, title: 'Target', preview_available: false },
    });
    const withheld = await upload(root, plainFile(), { sensitivity: 'restricted' });
    const draft = await upload(root, plainFile(), { status: 'draft' });
    const deleted = await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
    await owner.ok('deleteAsset', { params: { id: deleted.id }, body: undefined });
    for (const value_ref of [nowhere, withheld.id, draft.id, deleted.id]) {
      const refused = await refusal(field, { value_ref });
      expect([refused.status, refused.error.replace(value_ref, 'X')]).toEqual([
        422,
        expect.stringMatching(/: asset X not found$/),
      ]);
    }
    expect((await valueIn(field))?.value_ref).toBe(target.id);
  });

  // VALUE-11
  test('to what the reader is not shown leave no trace, in lists and in the history', async () => {
    const field = await define(library, 'reference');
    const secret = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', title: 'Secret' },
    });
    const plain = await owner.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', title: 'Plain' },
    });
    await put(field, { value_ref: plain.id });
    await put(field, { value_ref: secret.id });
    expect((await valueIn(field, stranger))?.value_ref).toBe(secret.id);
    await owner.ok('updateAsset', { params: { id: secret.id }, body: { sensitivity: 'restricted' } });
    expect(await valueIn(field, stranger)).toBeUndefined();
    expect((await valueIn(field))?.resolved_reference?.title).toBe('Secret');
    expect((await history(field, stranger)).map(({ after }) => after)).toEqual([{ value_ref: plain.id }]);
    expect((await history(field)).length).toBe(2);
    await owner.ok('deleteAsset', { params: { id: secret.id }, body: undefined });
    expect(await valueIn(field)).toBeUndefined();
    // An editor may still replace it.
    expect((await put(field, { value_ref: plain.id })).value_ref).toBe(plain.id);
  });
});

// VALUE-7
describe('concurrency of one value', () => {
  // VALUE-7
  test('if_unchanged_since is compared with set_at, also of a removed value', async () => {
    const field = await define(library, 'text');
    const first = await put(field, { value_text: 'a', if_unchanged_since: '2020-01-01T00:00:00Z' });
    const second = await put(field, { value_text: 'b', if_unchanged_since: first.set_at });
    expect(Date.parse(second.set_at)).toBeGreaterThan(Date.parse(first.set_at));
    const late = await sent(field, JSON.stringify({ value_text: 'c', if_unchanged_since: first.set_at }));
    expect([late.status, JSON.parse(late.text)]).toEqual([
      409,
      { error: 'it has changed; reload it', updated_at: second.set_at },
    ]);
    const body = { if_unchanged_since: first.set_at };
    expect(
      (await owner.refused('clearAssetFieldValue', { params: { id: asset, field_id: field }, body })).status,
    ).toBe(409);
    await owner.ok('clearAssetFieldValue', {
      params: { id: asset, field_id: field },
      body: { if_unchanged_since: second.set_at },
    });
    expect((await refusal(field, { value_text: 'c', if_unchanged_since: second.set_at })).status).toBe(409);
    await put(field, { value_text: 'c' });
  });

  // VALUE-7
  test('if_absent writes where there is nothing', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'a', if_absent: true });
    expect((await refusal(field, { value_text: 'b', if_absent: true })).status).toBe(409);
    await put(field, { value_text: 'b', if_absent: false });
    await clear(field);
    await put(field, { value_text: 'c', if_absent: true });
    expect(
      (await refusal(field, { value_text: 'd', if_absent: true, if_unchanged_since: '2020-01-01T00:00:00Z' }))
        .status,
    ).toBe(400);
  });

  // VALUE-7
  test('one of several writers with the same precondition succeeds', async () => {
    const field = await define(library, 'text');
    const { set_at } = await put(field, { value_text: '0' });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sent(field, JSON.stringify({ value_text: `w${index}`, if_unchanged_since: set_at })),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    const absent = await define(library, 'text');
    const first = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        sent(absent, JSON.stringify({ value_text: `w${index}`, if_absent: true })),
      ),
    );
    expect(first.filter(({ status }) => status === 200).length).toBe(1);
    expect((await history(absent)).length).toBe(1);
  });

  test('a field archived while a value is being written waits for it, or refuses it', async () => {
    const field = await define(library, 'text');
    const archive = () =>
      library.deps.db.updateTable('fields').set({ status: 'archived' }).where('id', '=', field).execute();
    const [answer] = await Promise.all([sent(field, '{"value_text":"x"}'), archive()]);
    expect([200, 409]).toContain(answer.status);
    const { rows } = await sql<{
      n: number;
    }>`select count(*) as n from asset_field_values where field_id = ${field}`.execute(library.deps.db);
    expect(rows[0]?.n).toBe(answer.status === 200 ? 1 : 0);
  });
});

describe('history', () => {
  // VALUE-12
  test('every change, newest first, in pages', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'a' });
    await put(field, { value_text: 'b' }, root);
    await put(field, { value_text: 'b' });
    await clear(field);
    const all = await history(field);
    expect(
      all.map(({ before, after, set_by, set_by_user_ref }) => [before, after, set_by, set_by_user_ref]),
    ).toEqual([
      [{ value_text: 'b' }, null, 'manual', owner.ref],
      [{ value_text: 'a' }, { value_text: 'b' }, 'manual', root.ref],
      [null, { value_text: 'a' }, 'manual', owner.ref],
    ]);
    const params = { id: asset, field_id: field };
    const first = await owner.ok('listAssetFieldHistory', { params, query: { limit: 2 } });
    const second = await owner.ok('listAssetFieldHistory', {
      params,
      query: { limit: 2, cursor: first.next_cursor ?? '' },
    });
    expect([...first.items, ...second.items]).toEqual(all);
    expect(second.next_cursor).toBeNull();
    expect((await owner.refused('listAssetFieldHistory', { params, query: { cursor: 'x' } })).status).toBe(
      400,
    );
  });

  // VALUE-12
  test('is purged with the asset', async () => {
    const field = await define(library, 'text');
    await put(field, { value_text: 'a' });
    const { db } = library.deps;
    await db
      .updateTable('assets')
      .set({ deleted_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', asset)
      .execute();
    const { purge } = await import('../../../src/trash/jobs/purge.ts');
    await purge(db);
    const left = await db
      .selectFrom('field_value_history')
      .select('id')
      .where('subject_id', '=', asset)
      .execute();
    expect(left).toEqual([]);
  });
});

// FIELD-23
describe('mirrored columns', () => {
  const title = '00000000-0000-4000-8000-000000000301';
  const description = '00000000-0000-4000-8000-000000000302';

  // FIELD-22
  test('show the asset’s own columns, and an empty one as no value', async () => {
    const { updated_at } = await owner.ok('getAsset', { params: { id: asset } }).then((read) => {
      if (read.restricted) throw new Error('withheld');
      return read;
    });
    expect(await values()).toEqual([
      {
        field_id: title,
        field_code: 'title',
        field_label: 'Title',
        type: 'text',
        value_text: 'Ridge',
        set_by: 'mirror',
        set_at: updated_at,
        set_by_user_ref: null,
      },
    ]);
  });

  // FIELD-23
  test('a write is a write to the asset, gated like PATCH', async () => {
    expect(await put(title, { value_text: 'Dawn' })).toMatchObject({ value_text: 'Dawn', set_by: 'mirror' });
    expect(await owner.ok('getAsset', { params: { id: asset } })).toMatchObject({ title: 'Dawn' });
    await put(description, { value_text: 'Four mornings' });
    expect((await refusal(title, { value_text: 'x' }, stranger)).status).toBe(403);
    expect((await refusal(title, { value_text: 'x'.repeat(501) })).status).toBe(400);
    expect((await refusal(title, { value_text: '' })).status).toBe(400);
    await clear(description);
    expect(await owner.ok('getAsset', { params: { id: asset } })).toMatchObject({
      title: 'Dawn',
      description: '',
    });
    expect(await history(title)).toEqual([]);
    const { rows } =
      await sql`select from asset_field_values where field_id in (${title}, ${description})`.execute(
        library.deps.db,
      );
    expect(rows).toEqual([]);
  });

  // FIELD-23
  test('concurrency is the asset’s', async () => {
    const since = (await valueIn(title))?.set_at ?? '';
    await put(title, { value_text: 'a', if_unchanged_since: since });
    expect((await refusal(title, { value_text: 'b', if_unchanged_since: since })).status).toBe(409);
    expect((await refusal(title, { value_text: 'b', if_absent: true })).status).toBe(409);
    await put(description, { value_text: 'b', if_absent: true });
  });
});
