import type { DefaultValue, FieldType } from '@vitrine/contract/fields';
import { describe, expect, test } from 'vitest';
import { openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import { change, define, notChanged, notDefined } from './define.ts';

const library = await openLibrary();
const [editor, stranger] = await library.joinAll('editor', 'stranger');
const root = await library.join('root', 'admin');
await grant(library, editor, 'fields.admin');

type Members = Omit<DefaultValue, 'kind'>;
const literal = (value: Members): DefaultValue => ({ kind: 'literal', ...value });
const text = (value_text: string) => literal({ value_text });
const context = (name: NonNullable<DefaultValue['context']>) => ({ kind: 'context', context: name }) as const;
const values = ['a', 'b', { value: 'old', status: 'deprecated' }, { value: 'gone', status: 'archived' }];
const optionsOf = (type: FieldType) =>
  ['select', 'tree', 'multi_select'].includes(type) ? { options: { values } } : {};

describe('DefaultValue', () => {
  // FIELD-31
  test('is a literal or a context that fits the type', async () => {
    for (const [type, default_value] of [
      ['text', text('x')],
      ['rich_text', text('<p>x</p>')],
      ['number', literal({ value_num: 1.5 })],
      ['boolean', literal({ value_num: 0 })],
      ['date', literal({ value_date: '2026-02-28T00:00:00Z' })],
      ['datetime', literal({ value_date: '2026-02-28T12:30:00Z' })],
      ['select', text('a')],
      ['multi_select', literal({ value_options: ['b', 'a'] })],
      ['text', context('uploading_user')],
      ['rich_text', context('uploading_user')],
      ['date', context('current_date')],
      ['datetime', context('current_date')],
    ] as const) {
      const made = await define(editor, { type, ...optionsOf(type), default_value });
      expect([type, made.default_value]).toEqual([type, default_value]);
    }
    const hostile = text('<p onclick="x()">a & <b>b</b></p>');
    const cleaned = await define(editor, { type: 'rich_text', default_value: hostile });
    expect(cleaned.default_value).toEqual(text('<p>a &amp; <b>b</b></p>'));
  });

  // FIELD-35
  test('stores the slug of a term that it names by label, alias or former name', async () => {
    const options = {
      values: [
        { value: 'a', label: 'Aye', aliases: ['first'] },
        { value: 'b', status: 'archived', replaced_by: 'a' },
        'c',
      ],
    } as const;
    const team_id = await addTeam(library, 'namers');
    for (const name of ['a', ' AYE ', 'First', 'b']) {
      const field = await define(editor, { type: 'select', options, default_value: text(name) });
      expect(field.default_value).toEqual(text('a'));
      const params = { id: field.id, team_id };
      const own = await editor.ok('setDefaultOverride', { params, body: text(name) });
      expect(own.default_value).toEqual(text('a'));
    }
    const default_value = literal({ value_options: ['C', 'b'] });
    const many = await define(editor, { type: 'multi_select', options, default_value });
    expect(many.default_value?.value_options).toEqual(['c', 'a']);
  });

  // FIELD-31, FIELD-35
  test.each<[FieldType, unknown, string]>([
    ['text', { value_text: 'x' }, 'kind'],
    ['text', literal({}), 'needs value_text'],
    ['text', text(''), 'value_text is empty'],
    ['text', literal({ value_num: 1 }), 'value_num cannot be combined with type text'],
    ['text', { ...text('x'), context: 'uploading_user' }, 'context cannot be combined with kind literal'],
    ['text', { kind: 'context' }, 'needs a context'],
    ['text', { ...context('uploading_user'), value_text: 'x' }, 'cannot be combined with kind context'],
    ['text', context('current_date'), 'current_date does not apply to a field of type text'],
    ['number', context('uploading_team'), 'does not apply to a field of type number'],
    ['boolean', literal({ value_num: 2 }), 'neither 0 nor 1'],
    ['reference', literal({ value_ref: nowhere }), 'value_ref names no asset'],
    ['select', text('c'), '"c" is not a term'],
    ['select', text('old'), '"old" is deprecated'],
    ['tree', text('gone'), '"gone" is archived'],
    ['select', literal({ value_options: ['a'] }), 'value_options cannot be combined with type select'],
    ['multi_select', literal({ value_options: [] }), 'value_options is empty'],
    ['multi_select', literal({ value_options: ['a', 'a'] }), '"a" occurs twice'],
    ['text', text('x'.repeat(2001)), 'longer than 2000 characters'],
    ['rich_text', text('<script>x</script>'), 'no text is left'],
    ['datetime', literal({ value_date: '9999-12-31T23:59:59-14:00' }), 'is not a time'],
  ])('a field of type %s refuses %j', async (type, default_value, named) => {
    expect(await notDefined(editor, { type, ...optionsOf(type), default_value })).toContain(named);
  });

  test('obeys the options of the field', async () => {
    for (const [type, options, value, named] of [
      ['number', { min: 1, max: 5 }, { value_num: 6 }, 'above 5'],
      ['number', { integer: true }, { value_num: 1.5 }, 'not a whole number'],
      ['number', { min: 0.1, step: 0.1 }, { value_num: 0.35 }, 'no multiple of 0.1'],
      ['text', { max_length: 3 }, { value_text: 'four' }, 'longer than 3'],
      ['text', { min_length: 3 }, { value_text: '😀😀' }, 'shorter than 3'],
      ['date', { min: '2026-01-01' }, { value_date: '2025-12-31T23:59:59Z' }, 'before 2026-01-01'],
      ['datetime', { max: '2026-01-01' }, { value_date: '2026-01-01T00:00:01Z' }, 'after 2026-01-01'],
      ['multi_select', { values: ['a', 'b'], max_items: 1 }, { value_options: ['a', 'b'] }, 'more than 1'],
    ] as const)
      expect(
        await notDefined(editor, { type, options, default_value: { kind: 'literal', ...value } }),
      ).toContain(named);
    const default_value = literal({ value_num: 0.3 });
    await define(editor, { type: 'number', options: { step: 0.1 }, default_value });
  });

  // TERM-5
  test('names a leaf of a tree, which stays a leaf while it is the default', async () => {
    const options = { values: ['bird', { value: 'plant', children: ['tree'] }] };
    expect(await notDefined(editor, { type: 'tree', options, default_value: text('plant') })).toContain(
      '"plant" has narrower terms',
    );
    const { id } = await define(editor, { type: 'tree', options, default_value: text('bird') });
    const below = { params: { id }, body: { terms: [{ value: 'owl', parent: 'bird' }] } };
    expect((await editor.refused('addFieldTerms', below)).error).toContain('"bird" has narrower terms');
    const moved = { params: { id, value: 'tree' }, body: { parent: 'bird' } };
    expect((await editor.refused('updateFieldTerm', moved)).error).toContain('"bird" has narrower terms');
    expect((await editor.ok('getField', { params: { id } })).options.values).toEqual(options.values);
  });

  test('refers to an asset that the caller may read', async () => {
    const hidden = await upload(stranger, plainFile(), { status: 'draft' });
    const shown = await upload(stranger, plainFile());
    const referringTo = ({ id }: { id: string }) =>
      ({ type: 'reference', default_value: literal({ value_ref: id }) }) as const;
    expect(await notDefined(editor, referringTo(hidden))).toContain('value_ref names no asset');
    expect((await define(editor, referringTo(shown))).default_value?.value_ref).toBe(shown.id);
  });

  // FIELD-36
  test('of a field or a team is not invalidated by a change of options', async () => {
    const options = { values: ['a', 'b', 'c'] };
    const { id } = await define(editor, { type: 'select', options, default_value: text('a') });
    const team_id = await addTeam(library, 'press');
    await editor.ok('setDefaultOverride', { params: { id, team_id }, body: text('b') });
    expect(await notChanged(editor, id, { options: { values: ['b', 'c'] } })).toContain('"a" is not a term');
    expect(await notChanged(editor, id, { options: { values: ['a', 'c'] } })).toContain('the team press');
    await change(editor, id, { options: { values: ['c', 'b'] }, default_value: text('c') });
    const archive = { params: { id, value: 'c' }, body: { status: 'archived' as const } };
    expect((await editor.refused('updateFieldTerm', archive)).error).toContain('"c" is archived');
    // A deleted team, whose default no list shows, keeps no term.
    await root.ok('deleteTeam', { params: { id: team_id } });
    await change(editor, id, { options: { values: ['c'] } });
  });
});

describe('per-team defaults', () => {
  // FIELD-34
  test('are set, replaced, listed by team name and removed', async () => {
    const { id } = await define(editor);
    const [b, a] = [await addTeam(library, 'beta'), await addTeam(library, 'Alpha')];
    const set = (team_id: string, body: DefaultValue) =>
      editor.ok('setDefaultOverride', { params: { id, team_id }, body });
    await set(b, text('one'));
    const second = { team_id: b, team_name: 'beta', default_value: text('two') };
    expect(await set(b, text('two'))).toMatchObject(second);
    await set(a, context('uploading_user'));
    const list = async (query = {}) => editor.ok('listDefaultOverrides', { params: { id }, query });
    expect(await pagesOf((from) => list({ limit: 1, ...from }))).toMatchObject([[{ team_id: a }], [second]]);
    await editor.ok('removeDefaultOverride', { params: { id, team_id: b } });
    expect((await editor.refused('removeDefaultOverride', { params: { id, team_id: b } })).status).toBe(404);
    expect((await list()).items.map(({ team_id }) => team_id)).toEqual([a]);
    // The default of the field itself is unaffected.
    expect((await editor.ok('getField', { params: { id } })).default_value).toBeNull();
  });

  // FIELD-34
  test('are checked like the default, for asset fields and live teams only', async () => {
    const { id } = await define(editor, { type: 'number', options: { max: 5 } });
    const shelf = await define(editor, { subject_kind: 'collection' });
    const team_id = await addTeam(library, 'night');
    const set = (params: { id: string; team_id: string }, value_num: number) =>
      editor.refused('setDefaultOverride', { params, body: literal({ value_num }) });
    expect((await set({ id, team_id }, 6)).error).toContain('above 5');
    expect((await set({ id: shelf.id, team_id }, 5)).error).toBe(
      `${shelf.code} is a field of collections, which do not belong to teams`,
    );
    expect((await set({ id: nowhere, team_id }, 5)).status).toBe(404);
    expect((await set({ id, team_id: nowhere }, 5)).error).toBe('team not found');
    const gone = { deleted_at: new Date().toISOString() };
    await library.deps.db.updateTable('teams').set(gone).where('id', '=', team_id).execute();
    expect((await set({ id, team_id }, 5)).error).toBe('team not found');
    expect((await editor.refused('listDefaultOverrides', { params: { id: nowhere } })).status).toBe(404);
  });
});
