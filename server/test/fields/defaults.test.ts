import type { DefaultValue } from '@vitrine/contract/fields';
import { beforeAll, describe, expect, test } from 'vitest';
import { addTeam, arrive, grant, nowhere } from '../posts/people.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define, notChanged, notDefined } from './define.ts';

let library: Library;
let editor: Account;
let stranger: Account;

beforeAll(async () => {
  library = await openLibrary();
  editor = await arrive(library, 'editor');
  stranger = await arrive(library, 'stranger');
  await grant(library, editor, 'fields.admin');
});

const literal = (value: Omit<DefaultValue, 'kind'>): DefaultValue => ({ kind: 'literal', ...value });
const terms = {
  values: ['a', 'b', { value: 'old', status: 'deprecated' }, { value: 'gone', status: 'archived' }],
};

// FIELD-31
describe('DefaultValue', () => {
  // FIELD-31
  test.each([
    ['text', literal({ value_text: 'x' })],
    ['longtext', literal({ value_text: 'x' })],
    ['rich_text', literal({ value_text: '<p>x</p>' })],
    ['number', literal({ value_num: 1.5 })],
    ['boolean', literal({ value_num: 0 })],
    ['date', literal({ value_date: '2026-02-28T00:00:00Z' })],
    ['datetime', literal({ value_date: '2026-02-28T12:30:00Z' })],
    ['select', literal({ value_text: 'a' })],
    ['tree', literal({ value_text: 'a' })],
    ['multi_select', literal({ value_options: ['b', 'a'] })],
    ['text', { kind: 'context', context: 'uploading_user' }],
    ['longtext', { kind: 'context', context: 'uploading_team' }],
    ['rich_text', { kind: 'context', context: 'uploading_user' }],
    ['rich_text', { kind: 'context', context: 'uploading_team' }],
    ['date', { kind: 'context', context: 'current_date' }],
    ['datetime', { kind: 'context', context: 'current_date' }],
  ] as const)('a field of type %s takes %j', async (type, default_value) => {
    const given = {
      ...default_value,
      ...('value_options' in default_value ? { value_options: ['b', 'a'] } : {}),
    };
    const options = ['select', 'tree', 'multi_select'].includes(type) ? { options: terms } : {};
    const { id, default_value: made } = await define(editor, { type, ...options, default_value: given });
    expect(made).toEqual(given);
    expect((await change(editor, id, { clear_default: true })).default_value).toBeNull();
    expect((await change(editor, id, { default_value: given })).default_value).toEqual(given);
  });

  test('converts the short form of a default into a value as callers write it', async () => {
    const moment = await define(editor, {
      type: 'datetime',
      default_value: literal({ value_date: '2025-12-31T23:59:59.999999999+20:00' }),
    });
    const rich = await define(editor, {
      type: 'rich_text',
      options: { max_length: 5 },
      default_value: literal({ value_text: '<p onclick="x()">a & <b>b</b></p>' }),
    });
    expect(rich.default_value?.value_text).toBe('<p>a &amp; <b>b</b></p>');
    const { id } = await upload(stranger, plainFile());
    const { items } = await stranger.ok('listAssetFieldValues', { params: { id } });
    const of = (field: string) => items.find(({ field_id }) => field_id === field);
    expect(of(moment.id)?.value_date).toBe('2025-12-31T03:59:59.999Z');
    expect(of(rich.id)?.value_text).toBe('<p>a &amp; <b>b</b></p>');
    await editor.ok('archiveField', { params: { id: moment.id } });
    await editor.ok('archiveField', { params: { id: rich.id } });
  });

  // FIELD-35
  test('stores the slug of a term that a default names by label, alias or former name', async () => {
    const options = {
      values: [
        { value: 'a', label: 'Aye', aliases: ['first'] },
        { value: 'b', status: 'archived', replaced_by: 'a' },
        'c',
      ],
    } as const;
    const team = await addTeam(library, 'namers');
    for (const name of ['a', ' AYE ', 'First', 'b']) {
      const field = await define(editor, {
        type: 'select',
        options,
        default_value: literal({ value_text: name }),
      });
      expect(field.default_value).toEqual(literal({ value_text: 'a' }));
      const own = await editor.ok('setDefaultOverride', {
        params: { id: field.id, team_id: team },
        body: literal({ value_text: name }),
      });
      expect(own.default_value).toEqual(literal({ value_text: 'a' }));
    }
    const many = await define(editor, { type: 'multi_select', options });
    const given = literal({ value_options: ['C', 'b'] });
    expect((await change(editor, many.id, { default_value: given })).default_value).toEqual(
      literal({ value_options: ['c', 'a'] }),
    );
  });

  // FIELD-31, FIELD-35
  test.each([
    ['text', { kind: 'fixed', value_text: 'x' }, 'kind'],
    ['text', { value_text: 'x' }, 'kind'],
    ['text', { kind: 'literal' }, 'needs value_text'],
    ['text', { kind: 'literal', value_text: null }, 'needs value_text'],
    ['text', { kind: 'literal', value_text: '' }, 'value_text is empty'],
    ['text', { kind: 'literal', value_num: 1 }, 'value_num cannot be combined with type text'],
    [
      'text',
      { kind: 'literal', value_text: 'x', value_num: 1 },
      'value_num cannot be combined with type text',
    ],
    [
      'text',
      { kind: 'literal', value_text: 'x', context: 'uploading_user' },
      'context cannot be combined with kind literal',
    ],
    ['text', { kind: 'literal', value_text: 'x', other: 1 }, 'unknown property default_value.other'],
    ['text', { kind: 'context' }, 'needs a context'],
    ['text', { kind: 'context', context: 'weather' }, 'context'],
    [
      'text',
      { kind: 'context', context: 'uploading_user', value_text: 'x' },
      'value_text cannot be combined with kind context',
    ],
    [
      'text',
      { kind: 'context', context: 'current_date' },
      'current_date does not apply to a field of type text',
    ],
    [
      'date',
      { kind: 'context', context: 'uploading_user' },
      'uploading_user does not apply to a field of type date',
    ],
    ['number', { kind: 'context', context: 'uploading_team' }, 'does not apply to a field of type number'],
    ['boolean', { kind: 'literal', value_num: 2 }, 'neither 0 nor 1'],
    ['date', { kind: 'literal', value_date: '2026-02-31T00:00:00Z' }, 'value_date'],
    ['date', { kind: 'literal', value_date: 'soon' }, 'value_date'],
    ['reference', { kind: 'literal', value_ref: 'x' }, 'value_ref'],
    ['reference', { kind: 'literal', value_ref: nowhere }, 'value_ref names no asset'],
    ['select', { kind: 'literal', value_text: 'c' }, '"c" is not a term'],
    ['select', { kind: 'literal', value_text: 'old' }, '"old" is deprecated'],
    ['tree', { kind: 'literal', value_text: 'gone' }, '"gone" is archived'],
    [
      'select',
      { kind: 'literal', value_options: ['a'] },
      'value_options cannot be combined with type select',
    ],
    ['multi_select', { kind: 'literal', value_options: ['a', 'c'] }, '"c" is not a term'],
    ['multi_select', { kind: 'literal', value_options: [] }, 'value_options is empty'],
    ['multi_select', { kind: 'literal', value_options: ['a', 'a'] }, '"a" occurs twice'],
    ['text', { kind: 'literal', value_text: 'x'.repeat(2001) }, 'longer than 2000 characters'],
    ['longtext', { kind: 'literal', value_text: 'x'.repeat(50_001) }, 'longer than 50000 characters'],
    ['rich_text', { kind: 'literal', value_text: '<script>x</script>' }, 'no text is left'],
    ['date', { kind: 'literal', value_date: '0000-01-01T00:00:00Z' }, 'is not a day'],
    ['datetime', { kind: 'literal', value_date: '9999-12-31T23:59:59-14:00' }, 'is not a time'],
  ] as const)('a field of type %s refuses %j', async (type, default_value, named) => {
    const options = ['select', 'tree', 'multi_select'].includes(type) ? { options: terms } : {};
    expect(await notDefined(editor, { type, ...options, default_value })).toContain(named);
  });

  test.each([
    ['number', { min: 1, max: 5 }, { value_num: 6 }, 'above 5'],
    ['number', { min: 1, max: 5 }, { value_num: 0 }, 'below 1'],
    ['number', { integer: true }, { value_num: 1.5 }, 'not a whole number'],
    ['number', { min: 0.1, step: 0.1 }, { value_num: 0.35 }, 'no multiple of 0.1'],
    ['text', { max_length: 3 }, { value_text: 'four' }, 'longer than 3'],
    ['text', { min_length: 3 }, { value_text: '😀😀' }, 'shorter than 3'],
    ['date', { min: '2026-01-01' }, { value_date: '2025-12-31T23:59:59Z' }, 'before 2026-01-01'],
    ['datetime', { max: '2026-01-01' }, { value_date: '2026-01-01T00:00:01Z' }, 'after 2026-01-01'],
    ['multi_select', { values: ['a', 'b'], max_items: 1 }, { value_options: ['a', 'b'] }, 'more than 1'],
  ] as const)('a literal obeys the options: %s %j refuses %j', async (type, options, value, named) => {
    expect(
      await notDefined(editor, { type, options, default_value: { kind: 'literal', ...value } }),
    ).toContain(named);
  });

  test('refuses 1e400 as a number, and accepts 0.3 in steps of 0.1', async () => {
    const body =
      '{"code":"inf","label":"x","type":"number","default_value":{"kind":"literal","value_num":1e400}}';
    const answer = await editor.send('/fields', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    await define(editor, {
      type: 'number',
      options: { step: 0.1 },
      default_value: literal({ value_num: 0.3 }),
    });
  });

  // TERM-5
  test('a default names a leaf of a tree, which stays a leaf while it is the default', async () => {
    const values = ['bird', { value: 'plant', children: ['tree'] }];
    const branch = { type: 'tree', options: { values }, default_value: literal({ value_text: 'plant' }) };
    expect(await notDefined(editor, branch)).toContain('"plant" has narrower terms');
    const { id } = await define(editor, {
      type: 'tree',
      options: { values },
      default_value: literal({ value_text: 'bird' }),
    });
    const below = { params: { id }, body: { terms: [{ value: 'owl', parent: 'bird' }] } };
    expect((await editor.refused('addFieldTerms', below)).error).toContain('"bird" has narrower terms');
    const moved = { params: { id, value: 'tree' }, body: { parent: 'bird' } };
    expect((await editor.refused('updateFieldTerm', moved)).error).toContain('"bird" has narrower terms');
    expect((await editor.ok('getField', { params: { id } })).options.values).toEqual(values);
  });

  test('a reference must name an asset that the caller may read', async () => {
    const own = await upload(stranger, plainFile(), { status: 'draft' });
    const shown = await upload(stranger, plainFile());
    expect(
      await notDefined(editor, { type: 'reference', default_value: literal({ value_ref: own.id }) }),
    ).toContain('value_ref names no asset');
    const made = await define(editor, { type: 'reference', default_value: literal({ value_ref: shown.id }) });
    expect(made.default_value?.value_ref).toBe(shown.id);
  });

  // FIELD-36
  test('refuses options that would invalidate the default of the field or of a team', async () => {
    const { id } = await define(editor, {
      type: 'select',
      options: { values: ['a', 'b', 'c'] },
      default_value: literal({ value_text: 'a' }),
    });
    const team_id = await addTeam(library, 'press');
    await editor.ok('setDefaultOverride', { params: { id, team_id }, body: literal({ value_text: 'b' }) });
    expect(await notChanged(editor, id, { options: { values: ['b', 'c'] } })).toContain('"a" is not a term');
    expect(await notChanged(editor, id, { options: { values: ['a', 'c'] } })).toContain('the team press');
    await change(editor, id, {
      options: { values: ['c', 'b'] },
      default_value: literal({ value_text: 'c' }),
    });
    const archive = { params: { id, value: 'c' }, body: { status: 'archived' as const } };
    expect((await editor.refused('updateFieldTerm', archive)).error).toContain('"c" is archived');
  });
});

// FIELD-34
describe('per-team defaults', () => {
  // FIELD-34
  test('are set, replaced, listed by team name and removed', async () => {
    const { id } = await define(editor);
    const [b, a] = [await addTeam(library, 'beta'), await addTeam(library, 'Alpha')];
    const set = (team_id: string, value: DefaultValue) =>
      editor.ok('setDefaultOverride', { params: { id, team_id }, body: value });
    await set(b, literal({ value_text: 'one' }));
    expect(await set(b, literal({ value_text: 'two' }))).toMatchObject({
      team_id: b,
      team_name: 'beta',
      default_value: literal({ value_text: 'two' }),
    });
    await set(a, { kind: 'context', context: 'uploading_user' });
    const list = async (query = {}) => editor.ok('listDefaultOverrides', { params: { id }, query });
    expect((await list()).items.map(({ team_id }) => team_id)).toEqual([a, b]);
    const first = await list({ limit: 1 });
    expect(first.items.map(({ team_id }) => team_id)).toEqual([a]);
    const second = await list({ limit: 1, cursor: first.next_cursor });
    expect([second.items.map(({ team_id }) => team_id), second.next_cursor]).toEqual([[b], null]);
    await editor.ok('removeDefaultOverride', { params: { id, team_id: b } });
    expect((await editor.refused('removeDefaultOverride', { params: { id, team_id: b } })).status).toBe(404);
    expect((await list()).items.map(({ team_id }) => team_id)).toEqual([a]);
    // The default of the field itself is unaffected.
    expect((await editor.ok('getField', { params: { id } })).default_value).toBeNull();
  });

  // FIELD-34
  test('apply only to asset fields, because collections have no team', async () => {
    const { id, code } = await define(editor, { subject_kind: 'collection' });
    const at = { params: { id, team_id: await addTeam(library, 'shelves') } };
    expect(await editor.refused('setDefaultOverride', { ...at, body: literal({ value_text: 'x' }) })).toEqual(
      {
        status: 400,
        error: `${code} is a field of collections, which do not belong to teams`,
      },
    );
  });

  // FIELD-34
  test('are validated like the default of the field, and need a live team and fields.admin', async () => {
    const { id } = await define(editor, { type: 'number', options: { max: 5 } });
    const team_id = await addTeam(library, 'night');
    const at = { params: { id, team_id } };
    const body = literal({ value_num: 6 });
    expect(await editor.refused('setDefaultOverride', { ...at, body })).toMatchObject({
      status: 400,
      error: expect.stringContaining('above 5'),
    });
    const fine = literal({ value_num: 5 });
    for (const params of [
      { id: nowhere, team_id },
      { id, team_id: nowhere },
    ])
      expect((await editor.refused('setDefaultOverride', { params, body: fine })).status).toBe(404);
    await library.deps.db
      .updateTable('teams')
      .set({ deleted_at: new Date().toISOString() })
      .where('id', '=', team_id)
      .execute();
    expect((await editor.refused('setDefaultOverride', { ...at, body: fine })).error).toBe('team not found');
    expect((await stranger.refused('setDefaultOverride', { ...at, body: fine })).status).toBe(403);
    expect((await stranger.refused('removeDefaultOverride', at)).status).toBe(403);
    expect((await stranger.refused('listDefaultOverrides', { params: { id } })).status).toBe(403);
    expect((await editor.refused('listDefaultOverrides', { params: { id: nowhere } })).status).toBe(404);
  });
});
