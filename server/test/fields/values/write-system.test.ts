import type { SetBy } from '@vitrine/contract/field-values';
import type { FieldType } from '@vitrine/contract/fields';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Mode, type RawValue, writeSystemValue } from '../../../src/content/extraction/write-value.ts';
import { openLibrary, upload } from '../../support/library.ts';
import { nowhere } from '../../support/people.ts';
import { plainFile } from '../../support/pictures.ts';
import { type Defined, define, fieldValueOf } from './fields.ts';

let asset: string;

const library = await openLibrary();
const { db } = library.deps;
const owner = await library.join('owner', 'admin');
const hash = (await upload(owner, plainFile(), {}, 'DSC_0001.txt')).file_hash ?? '';

beforeEach(async () => {
  asset = (await owner.ok('createAsset', { body: { file_hash: hash } })).id;
});

const write = (
  fieldId: string,
  found: RawValue,
  mode: Mode = '',
  setBy: Exclude<SetBy, 'manual' | 'api'> = 'exif',
) => db.transaction().execute((tx) => writeSystemValue(tx, { assetId: asset, fieldId, found, mode, setBy }));

async function stands(field_id: string) {
  const value = await fieldValueOf(owner, asset, field_id);
  return value === undefined
    ? null
    : [value.value_text ?? value.value_num ?? value.value_date ?? value.value_options, value.set_by];
}

const put = (field_id: string, value_text: string) =>
  owner.ok('setAssetFieldValue', { params: { id: asset, field_id }, body: { value_text } });
const clear = (field_id: string) =>
  owner.ok('clearAssetFieldValue', { params: { id: asset, field_id }, body: undefined });

describe('what a part of the system writes', () => {
  test('is fitted to the type of the field', async () => {
    const terms = [
      { value: 'red', label: 'Crimson' },
      { value: 'blue' },
      { value: 'fading', status: 'deprecated' as const },
    ];
    const cases: [FieldType, RawValue, unknown][] = [
      ['text', 'Kodak', 'Kodak'],
      ['text', 2.5, '2.5'],
      ['text', ['a', 'b'], 'a, b'],
      ['text', 'x'.repeat(5000), 'x'.repeat(2000)],
      ['longtext', 'a\nb', 'a\nb'],
      ['rich_text', 'a <script>\n\nb', '<p>a &lt;script&gt;</p><p>b</p>'],
      ['number', 2.5, 2.5],
      ['number', '2.5', 2.5],
      ['boolean', 1, 1],
      ['date', '2024-02-29T23:00:00-05:00', '2024-02-29T00:00:00Z'],
      ['date', '2024-02-29', '2024-02-29T00:00:00Z'],
      ['datetime', '2024-02-29T23:00:00-05:00', '2024-02-29T23:00:00-05:00'],
      ['select', 'crimson', 'red'],
      ['select', ['green', 'BLUE'], 'blue'],
      ['multi_select', ['crimson', 'green', 'fading', 'blue', 'red'], ['red', 'blue']],
      ['tree', 'red', 'red'],
    ];
    for (const [type, found, read] of cases) {
      const field = await define(library, type, { terms });
      expect([type, found, await write(field, found)]).toEqual([type, found, 'written']);
      expect(await stands(field)).toEqual([read, 'exif']);
    }
  });

  test('is left out where the field cannot have it', async () => {
    const terms = [
      { value: 'red' },
      { value: 'fading', status: 'deprecated' as const },
      { value: 'below', parent: 'red' },
    ];
    const cases: [FieldType, RawValue, Defined][] = [
      ['text', '  ', {}],
      ['text', [], {}],
      ['text', 'long', { options: { max_length: 2 } }],
      ['number', 'f/2.8', {}],
      ['number', Number.NaN, {}],
      ['number', '', {}],
      ['boolean', 2, {}],
      ['date', '2024:02:30', {}],
      ['datetime', '2024-02-29', {}],
      ['select', 'green', { terms }],
      ['select', 'fading', { terms }],
      ['tree', 'red', { terms }],
      ['reference', nowhere, {}],
      ['text', 'x', { status: 'archived' }],
      ['text', 'x', { status: 'deprecated' }],
      ['text', 'x', { applies_to: [3] }],
      ['text', 'x', { subject_kind: 'collection' }],
    ];
    for (const [type, found, defined] of cases) {
      const field = await define(library, type, defined);
      expect([type, found, await write(field, found)]).toEqual([type, found, 'unfit']);
    }
    expect(await write(nowhere, 'x')).toBe('unfit');
  });

  // EXTRACT-6, FIELD-16, FIELD-21
  test('is exempt from read_only, the pattern and the write capability', async () => {
    const bars = { read_only: true, regexp_filter: '[0-9]+', write_capability: 'jobs.read' };
    const field = await define(library, 'text', bars);
    expect(await write(field, 'abc')).toBe('written');
    expect(await stands(field)).toEqual(['abc', 'exif']);
  });

  test('adds unknown terms to an open vocabulary', async () => {
    const field = await define(library, 'multi_select', { open_vocabulary: true, terms: [{ value: 'red' }] });
    expect(await write(field, ['Red', 'Deep Sea'], 'replace', 'iptc')).toBe('written');
    expect(await stands(field)).toEqual([['red', 'deep-sea'], 'iptc']);
  });
});

describe('the modes, each done twice', () => {
  const twice = async (field: string, found: RawValue, mode: Mode) => {
    const first = await write(field, found, mode);
    expect(await write(field, found, mode)).toBe('kept');
    return first;
  };

  // EXTRACT-3
  test('skip_if_set, which is also the empty mode, and replace', async () => {
    for (const [mode, outcome, storedText] of [
      ['', 'kept', 'a'],
      ['skip_if_set', 'kept', 'a'],
      ['replace', 'written', 'b'],
    ] as const) {
      const field = await define(library, 'text');
      expect(await twice(field, 'a', mode)).toBe('written');
      expect([mode, await write(field, 'b', mode)]).toEqual([mode, outcome]);
      expect(await stands(field)).toEqual([storedText, 'exif']);
    }
  });

  // EXTRACT-3
  test('append and prepend: texts and terms grow, other values stay', async () => {
    const [text, long] = [await define(library, 'text'), await define(library, 'longtext')];
    const terms = [{ value: 'a' }, { value: 'b' }, { value: 'c' }];
    const many = await define(library, 'multi_select', { terms });
    const number = await define(library, 'number');
    for (const field of [text, long]) await write(field, 'a');
    await write(many, ['a']);
    await write(number, 1);
    for (const field of [text, long, many]) expect(await twice(field, 'b', 'append')).toBe('written');
    for (const field of [text, long, many]) expect(await twice(field, 'c', 'prepend')).toBe('written');
    expect(await write(number, 2, 'append')).toBe('kept');
    expect([await stands(text), await stands(long), await stands(many), await stands(number)]).toEqual([
      ['c; a; b', 'exif'],
      ['c\na\nb', 'exif'],
      [['c', 'a', 'b'], 'exif'],
      [1, 'exif'],
    ]);
    // The value ends differently from what it contains.
    expect(await write(text, 'x'.repeat(1999), 'append')).toBe('kept');
  });
});

describe('precedence: people, then extraction, then defaults', () => {
  // VALUE-20
  test.each(['', 'skip_if_set', 'replace', 'append', 'prepend'] as const)('in mode %j', async (mode) => {
    const byHand = await define(library, 'text');
    await put(byHand, 'mine');
    expect(await write(byHand, 'found', mode)).toBe('kept');
    expect(await stands(byHand)).toEqual(['mine', 'manual']);
    await clear(byHand);
    expect(await write(byHand, 'found', mode)).toBe('kept');
    expect(await stands(byHand)).toBeNull();
    // A value that equals the default is written all the same, and then has the source of the file.
    for (const value_text of ['default', 'found']) {
      const byDefault = await define(library, 'text', { default_value: { kind: 'literal', value_text } });
      asset = (await owner.ok('createAsset', { body: { file_hash: hash } })).id;
      expect(await stands(byDefault)).toEqual([value_text, 'default']);
      expect(await write(byDefault, 'found', mode)).toBe('written');
      expect(await stands(byDefault)).toEqual(['found', 'exif']);
    }
    await db.updateTable('fields').set({ default_value: null }).execute();
  });

  test('the history records changes by extraction, but no first values', async () => {
    const field = await define(library, 'text');
    await write(field, 'a');
    await write(field, 'b', 'replace', 'xmp');
    const { items } = await owner.ok('listAssetFieldHistory', { params: { id: asset, field_id: field } });
    const changes = items.map((one) => [one.before, one.after, one.set_by, one.set_by_user_ref]);
    expect(changes).toEqual([[{ value_text: 'a' }, { value_text: 'b' }, 'xmp', null]]);
  });
});

// EXTRACT-7
test('mirrored columns are filled until a user writes them', async () => {
  const { items } = await owner.ok('listFields', { query: { limit: 200 } });
  const [title = '', description = ''] = items.flatMap((one) => (one.mirrors_column === null ? [] : one.id));
  expect(await stands(title)).toEqual(['DSC_0001', 'mirror']);
  expect(await write(title, 'Ridge')).toBe('written');
  expect(await write(description, 'Dawn')).toBe('written');
  expect(await write(title, 'Other', 'replace')).toBe('kept');
  expect(await write(description, 'Other', 'append')).toBe('kept');
  const shown = await owner.ok('getAsset', { params: { id: asset } });
  expect(shown).toMatchObject({ title: 'Ridge', description: 'Dawn' });
});
