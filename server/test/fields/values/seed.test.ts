import type { AssetFields } from '@vitrine/contract/assets';
import type { FieldValue, GivenValue } from '@vitrine/contract/field-values';
import { afterEach, describe, expect, test } from 'vitest';
import type { Visitor } from '../../support/client.ts';
import { formOf, openLibrary, upload } from '../../support/library.ts';
import { bearer, nowhere, revoke } from '../../support/people.ts';
import { plainFile } from '../../support/pictures.ts';
import { addTeam } from '../../support/teams.ts';
import { archiveFields, define } from './fields.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const owner = await library.join('owner');
const studio = await addTeam(library, 'studio', [owner]);
const press = await addTeam(library, 'press');
const hash = (await upload(owner, plainFile())).file_hash ?? '';

afterEach(() => archiveFields(library));

const create = (fields: AssetFields = {}, as: Visitor = owner) =>
  as.ok('createAsset', { body: { file_hash: hash, title: '', ...fields } });
const valuesOf = async (id: string): Promise<FieldValue[]> =>
  (await root.ok('listAssetFieldValues', { params: { id } })).items;
const made = async (fields: AssetFields = {}, as: Visitor = owner) => valuesOf((await create(fields, as)).id);
const literal = (members: object) => ({ kind: 'literal', ...members });

/** Returns the codes of values, each with what it says. */
const read = (values: readonly FieldValue[]) =>
  Object.fromEntries(
    values.map(({ field_code, value_text, value_num, value_date, value_options, value_ref }) => [
      field_code,
      value_text ?? value_num ?? value_date ?? value_options ?? value_ref,
    ]),
  );

describe('defaults at creation', () => {
  // FIELD-32
  test('fill fields of every type that were given no value, and never later', async () => {
    const terms = [
      { value: 'red' },
      { value: 'blue' },
      { value: 'old-red', status: 'archived' as const, replaced_by: 'red' },
      { value: 'fading', status: 'deprecated' as const },
    ];
    const older = await create();
    for (const [code, type, value] of [
      ['text', 'text', { value_text: 'x' }],
      ['rich', 'rich_text', { value_text: '<p onclick=x>y</p>' }],
      ['number', 'number', { value_num: 0 }],
      ['boolean', 'boolean', { value_num: 1 }],
      ['date', 'date', { value_date: '2024-02-29T23:00:00-05:00' }],
      ['datetime', 'datetime', { value_date: '2025-12-31T23:59:59.999999999+20:00' }],
      ['select', 'select', { value_text: 'old-red' }],
      ['none', 'select', { value_text: 'fading' }],
      ['multi', 'multi_select', { value_options: ['blue', 'red'] }],
      ['reference', 'reference', { value_ref: older.id }],
    ] as const)
      await define(library, type, { code, terms, default_value: literal(value) });
    const values = await made();
    expect(read(values)).toEqual({
      text: 'x',
      rich: '<p>y</p>',
      number: 0,
      boolean: 1,
      date: '2024-02-29T00:00:00Z',
      datetime: '2025-12-31T03:59:59.999Z',
      select: 'red',
      multi: ['blue', 'red'],
      reference: older.id,
    });
    for (const value of values) expect(value).toMatchObject({ set_by: 'default', set_by_user_ref: null });
    expect(await valuesOf(older.id)).toEqual([]);
  });

  test('fill fields that callers may not write, but none that the asset cannot have', async () => {
    const default_value = literal({ value_text: 'x' });
    for (const defined of [
      { code: 'ro', read_only: true },
      { code: 'pattern', regexp_filter: '[0-9]+' },
      { code: 'held', write_capability: 'jobs.read' },
      { code: 'films', applies_to: [3] },
      { code: 'away', status: 'archived' as const },
      { code: 'old', status: 'deprecated' as const },
      { code: 'collections', subject_kind: 'collection' as const },
    ])
      await define(library, 'text', { ...defined, default_value });
    const codes = ['held', 'pattern', 'ro'];
    expect(Object.keys(read(await made())).sort()).toEqual(codes);
    expect(Object.keys(read(await made({ asset_type: 3 }))).sort()).toEqual(['films', ...codes]);
  });

  // FIELD-34
  test('are those of the asset’s team, if it has its own', async () => {
    const default_value = literal({ value_text: 'house' });
    const credit = await define(library, 'text', { code: 'credit', default_value });
    const desk = await define(library, 'text', { code: 'desk' });
    const own = { team_id: studio, default_value: JSON.stringify(literal({ value_text: 'studio' })) };
    const overrides = [credit, desk].map((field_id) => ({ field_id, ...own }));
    await library.deps.db.insertInto('field_default_overrides').values(overrides).execute();
    expect(read(await made({ team_id: studio }))).toEqual({ credit: 'studio', desk: 'studio' });
    expect(read(await made())).toEqual({ credit: 'house' });
    const other = await upload(root, plainFile(), { title: '', team_id: press });
    expect(read(await valuesOf(other.id))).toEqual({ credit: 'house' });
  });

  // FIELD-31, FIELD-33
  test('contexts: the uploader’s display name, the one team they are in, the day and the instant', async () => {
    for (const [code, type, context] of [
      ['by', 'text', 'uploading_user'],
      ['from', 'longtext', 'uploading_team'],
      ['signed', 'rich_text', 'uploading_user'],
      ['day', 'date', 'current_date'],
      ['moment', 'datetime', 'current_date'],
    ] as const)
      await define(library, type, { code, default_value: { kind: 'context', context } });
    const { db } = library.deps;
    const mara = await library.join('mara');
    const rename = (display_name: string | null) =>
      db
        .updateTable('users')
        .set({ display_name, fullname: 'Mara Kowalska' })
        .where('ref', '=', mara.ref)
        .execute();
    const join = (team_id: string) =>
      db.insertInto('team_members').values({ team_id, user_ref: mara.ref }).execute();
    const filled = async () => read(await valuesOf((await upload(mara, plainFile(), { title: '' })).id));
    const started = Date.now();
    await rename('Mara & <b>K.</b> "M"');
    const first = await filled();
    expect(first).toEqual({
      by: 'Mara & <b>K.</b> "M"',
      // Rich text escapes the name.
      signed: '<p>Mara &amp; &lt;b&gt;K.&lt;/b&gt; "M"</p>',
      day: `${new Date().toISOString().slice(0, 10)}T00:00:00Z`,
      moment: expect.any(String),
    });
    expect(Date.parse(String(first.moment))).toBeGreaterThanOrEqual(started - 1);
    await join(studio);
    expect((await filled()).from).toBe('studio');
    await join(press);
    expect((await filled()).from).toBeUndefined();
    // A closed team counts as none; the full name is hidden from callers who may not see it.
    const closed = { deleted_at: '2026-01-01T00:00:00Z' };
    await db.updateTable('teams').set(closed).where('id', '=', press).execute();
    await rename(null);
    expect(await filled()).toMatchObject({ from: 'studio', by: 'mara' });
  });
});

describe('field_values of POST /assets', () => {
  // VALUE-19
  test('take precedence over defaults, by id or by code, and name the caller as the one who set them', async () => {
    const default_value = literal({ value_text: 'default' });
    const ids: string[] = [];
    for (const [display_order, code] of ['one', 'two', 'three'].entries())
      ids.push(await define(library, 'text', { code, display_order, default_value }));
    const field_values = [
      { field_id: ids[0]?.toUpperCase() ?? '', value_text: 'a' },
      { field_code: 'two', value_text: 'b' },
      { field_code: 'title', value_text: 'Ridge' },
    ];
    const show = (values: FieldValue[]) =>
      values
        .filter(({ set_by }) => set_by !== 'mirror')
        .map(({ value_text, set_by, set_by_user_ref }) => [value_text, set_by, set_by_user_ref]);
    const asset = await create({ field_values });
    expect(asset.title).toBe('Ridge');
    expect(show(await valuesOf(asset.id))).toEqual([
      ['a', 'manual', owner.ref],
      ['b', 'manual', owner.ref],
      ['default', 'default', null],
    ]);
    const script = await bearer(library, owner, ['assets.write']);
    expect(show(await made({ field_values }, script))[0]).toEqual(['a', 'api', owner.ref]);
    const form = await upload(owner, plainFile(), { field_values: JSON.stringify(field_values) });
    const params = { id: form.id, field_id: ids[0] ?? '' };
    const { items } = await owner.ok('listAssetFieldHistory', { params });
    expect(items.map(({ before, after }) => [before, after])).toEqual([[null, { value_text: 'a' }]]);
  });

  test('resolve terms, and create each new term of an open vocabulary once', async () => {
    const terms = [{ value: 'red', label: 'Crimson' }];
    await define(library, 'select', { code: 'colour', terms });
    await define(library, 'multi_select', { code: 'words', open_vocabulary: true, terms });
    await define(library, 'multi_select', { code: 'more', open_vocabulary: true });
    const field_values = [
      { field_code: 'more', value_options: ['One'] },
      { field_code: 'colour', value_text: 'crimson' },
      { field_code: 'words', value_options: ['New', 'CRIMSON'] },
    ];
    for (const values of await Promise.all(Array.from({ length: 6 }, () => made({ field_values }))))
      expect(read(values)).toEqual({ colour: 'red', more: ['one'], words: ['new', 'red'] });
  });

  // FIELD-16, VALUE-19
  test('leave no asset behind if any of them is invalid', async () => {
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
    await revoke(library, owner, 'fields.vocabulary.extend');
    const plain = { field_code: 'plain', value_text: 'x' };
    const green = { field_code: 'choice', value_text: 'green' };
    const cases: [number, GivenValue[]][] = [
      [404, [{ field_code: 'nothing', value_text: 'x' }]],
      [404, [{ field_id: nowhere, value_text: 'x' }]],
      [404, [{ field_code: 'of_collection', value_text: 'x' }]],
      [400, [{ value_text: 'x' }]],
      [400, [{ ...plain, field_id: field }]],
      [400, [plain, { field_id: field, value_text: 'y' }]],
      [400, [{ field_code: 'plain', value_num: 1 }]],
      [400, [{ field_code: 'plain' }]],
      [422, [{ field_code: 'plain', value_text: 'X1' }]],
      [422, [green]],
      [403, [{ field_code: 'open_words', value_options: ['new'] }]],
      [403, [{ field_code: 'locked', value_text: 'x' }]],
      [403, [{ field_code: 'held_back', value_text: 'x' }]],
      [409, [{ field_code: 'for_films', value_text: 'x' }]],
      [422, [{ field_code: 'link', value_ref: nowhere }]],
      [422, [plain, green]],
    ];
    for (const [status, field_values] of cases) {
      const body = { file_hash: hash, field_values };
      expect([field_values, await owner.status('POST', '/assets', body)]).toEqual([field_values, status]);
    }
    for (const field_values of ['x', '{}', '[{"field_code":"plain","set_by":"exif","value_text":"x"}]'])
      expect(await owner.status('POST', '/assets', formOf(plainFile(), { field_values }))).toBe(400);
    expect(await count()).toBe(before);
  });
});
