import type { AssetFields } from '@vitrine/contract/assets';
import type { FieldValue, GivenValue } from '@vitrine/contract/field-values';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addTeam, arrive, bearer } from '../../posts/people.ts';
import type { Visitor } from '../../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../../support/library.ts';
import { plainFile } from '../../support/pictures.ts';
import { define, nowhere } from './fields.ts';

let library: Library;
let root: Account;
let owner: Account;
let hash: string;
let studio: string;
let press: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  owner = await arrive(library, 'owner');
  studio = await addTeam(library, 'studio', [owner]);
  press = await addTeam(library, 'press');
  hash = (await upload(owner, plainFile())).file_hash ?? '';
});

beforeEach(() => library.setPublicMode(false));

afterEach(async () => {
  await library.deps.db
    .updateTable('fields')
    .set({ status: 'archived' })
    .where('mirrors_column', 'is', null)
    .execute();
});

const create = (fields: AssetFields = {}, as: Visitor = owner) =>
  as.ok('createAsset', { body: { file_hash: hash, title: '', ...fields } });
const valuesOf = async (id: string): Promise<FieldValue[]> =>
  (await root.ok('listAssetFieldValues', { params: { id } })).items;
const made = async (fields: AssetFields = {}, as: Visitor = owner) => valuesOf((await create(fields, as)).id);
const refused = (field_values: GivenValue[], as: Visitor = owner) =>
  as.refused('createAsset', { body: { file_hash: hash, field_values } });

// FIELD-32
describe('defaults at creation', () => {
  // FIELD-32
  test('literals of every type fill the fields that were given no value', async () => {
    const terms = [{ value: 'red', label: 'Red' }, { value: 'blue' }];
    const literal = (members: object) => ({ kind: 'literal', ...members });
    await define(library, 'text', { code: 'd_text', default_value: literal({ value_text: 'x' }) });
    await define(library, 'rich_text', {
      code: 'd_rich',
      default_value: literal({ value_text: '<p onclick=x>y</p>' }),
    });
    await define(library, 'number', { code: 'd_number', default_value: literal({ value_num: 0 }) });
    await define(library, 'boolean', { code: 'd_boolean', default_value: literal({ value_num: 1 }) });
    await define(library, 'date', {
      code: 'd_date',
      default_value: literal({ value_date: '2024-02-29T23:00:00-05:00' }),
    });
    await define(library, 'datetime', {
      code: 'd_datetime',
      default_value: literal({ value_date: '2024-02-29T23:00:00-05:00' }),
    });
    await define(library, 'select', {
      code: 'd_select',
      terms,
      default_value: literal({ value_text: 'red' }),
    });
    await define(library, 'multi_select', {
      code: 'd_multi',
      terms,
      default_value: literal({ value_options: ['blue', 'red'] }),
    });
    await define(library, 'reference', {
      code: 'd_reference',
      default_value: literal({ value_ref: (await create()).id }),
    });
    const values = await made();
    const read = (code: string) => {
      const { value_text, value_num, value_date, value_options } =
        values.find(({ field_code }) => field_code === code) ?? {};
      return value_text ?? value_num ?? value_date ?? value_options;
    };
    expect(Object.fromEntries(values.map(({ field_code }) => [field_code, read(field_code)]))).toMatchObject({
      d_text: 'x',
      d_rich: '<p>y</p>',
      d_number: 0,
      d_boolean: 1,
      d_date: '2024-02-29T00:00:00Z',
      d_datetime: '2024-03-01T04:00:00Z',
      d_select: 'red',
      d_multi: ['blue', 'red'],
    });
    expect(values.length).toBe(9);
    expect(new Set(values.map(({ set_by, set_by_user_ref }) => `${set_by} ${set_by_user_ref}`))).toEqual(
      new Set(['default null']),
    );
  });

  test('also fields that people cannot write: read-only, with a pattern, or without the capability', async () => {
    const default_value = { kind: 'literal', value_text: 'x' };
    await define(library, 'text', { code: 'ro', read_only: true, default_value });
    await define(library, 'text', { code: 'pattern', regexp_filter: '[0-9]+', default_value });
    await define(library, 'text', { code: 'held', write_capability: 'jobs.read', default_value });
    expect((await made()).map(({ field_code }) => field_code).sort()).toEqual(['held', 'pattern', 'ro']);
  });

  test('not to other types of asset, archived or deprecated fields', async () => {
    const default_value = { kind: 'literal', value_text: 'x' };
    await define(library, 'text', { code: 'films', applies_to: [3], default_value });
    await define(library, 'text', { code: 'away', status: 'archived', default_value });
    await define(library, 'text', { code: 'old', status: 'deprecated', default_value });
    await define(library, 'text', { code: 'collections', subject_kind: 'collection', default_value });
    expect(await made()).toEqual([]);
    expect((await made({ asset_type: 3 })).map(({ field_code }) => field_code)).toEqual(['films']);
  });

  test('a merged term resolves to its successor, and a deprecated term is omitted', async () => {
    const terms = [
      { value: 'red' },
      { value: 'old-red', status: 'archived' as const, replaced_by: 'red' },
      { value: 'fading', status: 'deprecated' as const },
    ];
    await define(library, 'select', {
      code: 'merged',
      terms,
      default_value: { kind: 'literal', value_text: 'old-red' },
    });
    await define(library, 'select', {
      code: 'fading',
      terms,
      default_value: { kind: 'literal', value_text: 'fading' },
    });
    expect((await made()).map(({ field_code, value_text }) => [field_code, value_text])).toEqual([
      ['merged', 'red'],
    ]);
  });

  // FIELD-34
  test('the override of the asset’s team takes precedence over the field’s default, and applies without one', async () => {
    const field = await define(library, 'text', {
      code: 'credit',
      default_value: { kind: 'literal', value_text: 'house' },
    });
    const bare = await define(library, 'text', { code: 'desk' });
    const overrides = [field, bare].map((field_id) => ({
      field_id,
      team_id: studio,
      default_value: JSON.stringify({ kind: 'literal', value_text: 'studio' }),
    }));
    await library.deps.db.insertInto('field_default_overrides').values(overrides).execute();
    const texts = async (fields: AssetFields, as: Visitor = owner) =>
      (await made(fields, as)).map(({ field_code, value_text }) => [field_code, value_text]);
    expect(await texts({ team_id: studio })).toEqual([
      ['credit', 'studio'],
      ['desk', 'studio'],
    ]);
    expect(await texts({})).toEqual([['credit', 'house']]);
    const other = await upload(root, plainFile(), { title: '', team_id: press });
    expect((await valuesOf(other.id)).map(({ value_text }) => value_text)).toEqual(['house']);
  });

  // FIELD-31, FIELD-33
  test('contexts: the uploader’s display name, the one team they are in, the day and the instant', async () => {
    const context = (name: string) => ({ kind: 'context', context: name });
    await define(library, 'text', { code: 'by', default_value: context('uploading_user') });
    await define(library, 'longtext', { code: 'from', default_value: context('uploading_team') });
    await define(library, 'rich_text', { code: 'signed', default_value: context('uploading_user') });
    await define(library, 'date', { code: 'day', default_value: context('current_date') });
    await define(library, 'datetime', { code: 'moment', default_value: context('current_date') });
    const started = Date.now();
    const read = async (as: Account) => {
      const file_hash = (await upload(as, plainFile())).file_hash ?? '';
      const { id } = await as.ok('createAsset', { body: { file_hash, title: '' } });
      return Object.fromEntries(
        (await valuesOf(id)).map(({ field_code, value_text, value_date }) => [
          field_code,
          value_text ?? value_date,
        ]),
      );
    };
    const mara = await arrive(library, 'mara');
    await library.deps.db
      .updateTable('users')
      .set({ display_name: 'Mara & <b>K.</b> "M"', fullname: 'Mara Kowalska' })
      .where('ref', '=', mara.ref)
      .execute();
    const first = await read(mara);
    expect(first).toMatchObject({
      by: 'Mara & <b>K.</b> "M"',
      // Rich text escapes the name.
      signed: '<p>Mara &amp; &lt;b&gt;K.&lt;/b&gt; "M"</p>',
    });
    expect(first.from).toBeUndefined();
    expect(first.day).toBe(`${new Date().toISOString().slice(0, 10)}T00:00:00Z`);
    expect(Date.parse(first.moment ?? '')).toBeGreaterThanOrEqual(started - 1);
    const join = (team_id: string) =>
      library.deps.db.insertInto('team_members').values({ team_id, user_ref: mara.ref }).execute();
    await join(studio);
    expect((await read(mara)).from).toBe('studio');
    await join(press);
    expect((await read(mara)).from).toBeUndefined();
    // A closed team counts as none; the full name is hidden from callers who may not see it.
    await library.deps.db
      .updateTable('teams')
      .set({ deleted_at: '2026-01-01T00:00:00Z' })
      .where('id', '=', press)
      .execute();
    await library.deps.db
      .updateTable('users')
      .set({ display_name: null })
      .where('ref', '=', mara.ref)
      .execute();
    expect(await read(mara)).toMatchObject({ from: 'studio', by: 'mara' });
    await library.deps.db.updateTable('teams').set({ deleted_at: null }).where('id', '=', press).execute();
  });
});

describe('field_values of POST /assets', () => {
  // VALUE-19
  test('take precedence over defaults, by id or by code, and name the caller as the one who set them', async () => {
    const default_value = { kind: 'literal', value_text: 'default' };
    const one = await define(library, 'text', { code: 'one', display_order: 1, default_value });
    await define(library, 'text', { code: 'two', display_order: 2, default_value });
    await define(library, 'text', { code: 'three', display_order: 3, default_value });
    const field_values = [
      { field_id: one.toUpperCase(), value_text: 'a' },
      { field_code: 'two', value_text: 'b' },
    ];
    const show = (values: FieldValue[]) =>
      values.map(({ value_text, set_by, set_by_user_ref }) => [value_text, set_by, set_by_user_ref]);
    expect(show(await made({ field_values }))).toEqual([
      ['a', 'manual', owner.ref],
      ['b', 'manual', owner.ref],
      ['default', 'default', null],
    ]);
    const script = await bearer(library, owner, ['assets.write']);
    expect(show(await made({ field_values }, script))[0]).toEqual(['a', 'api', owner.ref]);
    const form = await upload(owner, plainFile(), { field_values: JSON.stringify(field_values) });
    const { items } = await owner.ok('listAssetFieldHistory', { params: { id: form.id, field_id: one } });
    expect(items.map(({ before, after }) => [before, after])).toEqual([[null, { value_text: 'a' }]]);
  });

  test('resolve terms, and create each new term of an open vocabulary once', async () => {
    const terms = [{ value: 'red', label: 'Crimson' }];
    await define(library, 'select', { code: 'colour', terms });
    await define(library, 'multi_select', { code: 'words', open_vocabulary: true, terms });
    await define(library, 'multi_select', { code: 'more', open_vocabulary: true });
    const extender = await arrive(library, 'extender');
    const bytes = (await upload(extender, plainFile())).file_hash ?? '';
    const body = {
      file_hash: bytes,
      title: '',
      field_values: [
        { field_code: 'more', value_options: ['One'] },
        { field_code: 'colour', value_text: 'crimson' },
        { field_code: 'words', value_options: ['New', 'CRIMSON'] },
      ],
    };
    const assets = await Promise.all(Array.from({ length: 6 }, () => extender.ok('createAsset', { body })));
    for (const { id } of assets) {
      const values = await valuesOf(id);
      expect(
        values.map(({ field_code, value_text, value_options }) => [field_code, value_text ?? value_options]),
      ).toEqual([
        ['colour', 'red'],
        ['more', ['one']],
        ['words', ['new', 'red']],
      ]);
    }
  });

  test('a mirrored column is the asset’s own', async () => {
    const asset = await create({
      field_values: [
        { field_code: 'title', value_text: 'Ridge' },
        { field_code: 'description', value_text: 'Dawn' },
      ],
    });
    expect(asset).toMatchObject({ title: 'Ridge', description: 'Dawn' });
  });

  // VALUE-19
  test('what is wrong with one of them leaves no asset behind', async () => {
    const field = await define(library, 'text', { code: 'plain', regexp_filter: '[a-z]+' });
    await define(library, 'select', { code: 'choice', terms: [{ value: 'red' }] });
    await define(library, 'multi_select', { code: 'open_words', open_vocabulary: true });
    await define(library, 'text', { code: 'locked', read_only: true });
    await define(library, 'text', { code: 'held_back', write_capability: 'jobs.read' });
    await define(library, 'text', { code: 'for_films', applies_to: [3] });
    await define(library, 'reference', { code: 'link' });
    await define(library, 'text', { code: 'of_collection', subject_kind: 'collection' });
    const count = async () => (await library.deps.db.selectFrom('assets').select('id').execute()).length;
    const before = await count();
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: owner.ref, capability: 'fields.vocabulary.extend' })
      .execute();
    const cases: [number, GivenValue[]][] = [
      [404, [{ field_code: 'nothing', value_text: 'x' }]],
      [404, [{ field_id: nowhere, value_text: 'x' }]],
      [404, [{ field_code: 'of_collection', value_text: 'x' }]],
      [400, [{ value_text: 'x' }]],
      [400, [{ field_code: 'plain', field_id: field, value_text: 'x' }]],
      [
        400,
        [
          { field_code: 'plain', value_text: 'x' },
          { field_id: field, value_text: 'y' },
        ],
      ],
      [400, [{ field_code: 'plain', value_num: 1 }]],
      [400, [{ field_code: 'plain' }]],
      [422, [{ field_code: 'plain', value_text: 'X1' }]],
      [422, [{ field_code: 'choice', value_text: 'green' }]],
      [403, [{ field_code: 'open_words', value_options: ['new'] }]],
      [403, [{ field_code: 'locked', value_text: 'x' }]],
      [403, [{ field_code: 'held_back', value_text: 'x' }]],
      [409, [{ field_code: 'for_films', value_text: 'x' }]],
      [422, [{ field_code: 'link', value_ref: nowhere }]],
      [
        422,
        [
          { field_code: 'plain', value_text: 'x' },
          { field_code: 'choice', value_text: 'green' },
        ],
      ],
    ];
    for (const [status, given] of cases)
      expect([given, (await refused(given)).status]).toEqual([given, status]);
    for (const field_values of [
      'x',
      '{}',
      '[1]',
      '[{"field_code":"plain","set_by":"exif","value_text":"x"}]',
    ]) {
      const form = new FormData();
      form.append('field_values', field_values);
      form.append('file', new Blob([plainFile()]), 'a.txt');
      expect((await owner.send('/assets', { method: 'POST', body: form })).status).toBe(400);
    }
    expect(await count()).toBe(before);
  });
});
