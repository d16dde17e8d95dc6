import type { FieldCreate } from '@vitrine/contract/fields';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { openLibrary, upload } from '../support/library.ts';
import { grant, nowhere, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define, notChanged, notDefined } from './define.ts';
import { type Columns, store as storeValue } from './values/fields.ts';

const library = await openLibrary();
const [editor, stranger] = await library.joinAll('editor', 'stranger');
await grant(library, editor, ['fields.admin', 'fields.vocabulary.merge']);
const asset = (await upload(stranger, plainFile())).id;

type Kind = 'select' | 'multi_select' | 'tree';
const vocabulary = (type: Kind, values: unknown[], more: Partial<FieldCreate> = {}) =>
  define(editor, { type, options: { values }, ...more });
const fieldOf = (id: string) => editor.ok('getField', { params: { id } });
const valuesOf = async (id: string) => (await fieldOf(id)).options.values;
const offered = async (id: string, query = {}) => {
  const answer = await stranger.ok('listFieldValues', { params: { id }, query });
  return answer.values.map(({ value }) => value);
};
const addTerms = (id: string, terms: unknown[]) =>
  editor.send(`/fields/${id}/terms`, { method: 'POST', body: { terms } });
const patchTerm = (id: string, value: string, body: Record<string, unknown>) =>
  editor.send(`/fields/${id}/terms/${encodeURIComponent(value)}`, { method: 'PATCH', body });
const errorOf = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).error];
const store = (field_id: string, columns: Columns) => storeValue(library, asset, field_id, columns);

async function storedValue(field_id: string) {
  const { value_text, value_options } = await library.deps.db
    .selectFrom('asset_field_values')
    .select(['value_text', 'value_options'])
    .where('field_id', '=', field_id)
    .executeTakeFirstOrThrow();
  return value_text ?? value_options;
}

describe('options.values', () => {
  // TERM-1
  test('are stored in their order and as written, and kept when other options change', async () => {
    const values = [
      'zebra',
      { value: 'ant', label: 'Ant', aliases: ['emmet'] },
      { value: 'cat', status: 'archived', replaced_by: 'ant' },
      { value: 'top', label: 'Top', children: ['leaf', { value: 'knot', children: ['twig'] }] },
    ];
    const { id, options } = await vocabulary('tree', values);
    expect(options).toEqual({ values });
    const turned = ['extra', ...[...values].reverse()];
    expect((await change(editor, id, { options: { values: turned } })).options).toEqual({ values: turned });
    const more = await change(editor, id, { options: { hint: 'x' } });
    expect(more.options).toEqual({ hint: 'x', values: turned });
    expect(await notDefined(editor, { type: 'tree', options: { values: ['a', 'a'] } })).toContain(
      'the value "a" occurs twice',
    );
  });

  // TERM-11
  test('may omit a term only if no value uses it', async () => {
    const one = await vocabulary('select', ['a', 'b', 'c']);
    await store(one.id, { value_text: 'a' });
    expect(await notChanged(editor, one.id, { options: { values: ['b'] } })).toContain('values use "a"');
    await change(editor, one.id, { options: { values: [{ value: 'a', status: 'deprecated' }] } });
    const many = await vocabulary('multi_select', ['a', 'b', 'c']);
    await store(many.id, { value_options: ['b', 'c'] });
    expect(await notChanged(editor, many.id, { options: { values: ['a', 'b'] } })).toContain(
      'values use "c"',
    );
    const values = ['c', 'b'];
    expect((await change(editor, many.id, { options: { values } })).options.values).toEqual(values);
  });

  // TERM-12
  test('are truncated after 2,000 terms, marked as truncated, and then not accepted back', async () => {
    const { id } = await vocabulary('multi_select', []);
    const terms = Array.from({ length: 2001 }, (_, n) => `term-${n}`);
    const added = await editor.ok('addFieldTerms', { params: { id }, body: { terms } });
    expect(added).toEqual({ added: 2001, vocabulary_size: 2001 });
    const { options } = await fieldOf(id);
    expect(options).toEqual({ values: terms.slice(0, 2000), truncated: true, vocabulary_size: 2001 });
    expect(await notChanged(editor, id, { options })).toContain('truncated');
    const { items } = await editor.ok('listFields', { query: { limit: 200 } });
    const listed = items.find((one) => one.id === id)?.options;
    expect(listed).toEqual({ values: terms.slice(0, 200), truncated: true, vocabulary_size: 2001 });
    expect(await offered(id, { q: 'term-2000' })).toEqual(['term-2000']);
  });
});

describe('POST /fields/{id}/terms', () => {
  // TERM-15
  test('appends terms, below existing parents or parents earlier in the list', async () => {
    const { id } = await vocabulary('tree', ['europe']);
    const terms = [
      { value: 'france', label: 'France', parent: 'europe' },
      { value: 'paris', parent: 'france', aliases: ['Lutetia'] },
      'asia',
      { value: 'gaul', status: 'archived' as const, replaced_by: 'france' },
    ];
    await editor.ok('addFieldTerms', { params: { id }, body: { terms } });
    const children = [{ value: 'paris', aliases: ['lutetia'] }];
    expect(await valuesOf(id)).toEqual([
      { value: 'europe', children: [{ value: 'france', label: 'France', children }] },
      'asia',
      { value: 'gaul', status: 'archived', replaced_by: 'france' },
    ]);
  });

  // TERM-15
  test('adds nothing if any term conflicts with an existing one', async () => {
    const { id } = await vocabulary('select', [{ value: 'a', label: 'Apple', aliases: ['fruit'] }]);
    for (const [term, status, named] of [
      ['a', 409, '"a" already exists'],
      ['b', 400, '"b" occurs twice'],
      ['fruit', 400, '"fruit" is an alias of "a"'],
      [{ value: 'c', label: 'FRUIT' }, 400, '"fruit" is an alias of "a"'],
      [{ value: 'c', aliases: ['Fruit'] }, 400, '"fruit" is an alias of "a"'],
      [{ value: 'c', aliases: ['APPLE'] }, 400, '"apple" is the label of "a"'],
      [{ value: 'c', aliases: ['A'] }, 400, '"a" is the value of "a"'],
      [{ value: 'c', parent: 'a' }, 400, 'which only a tree has'],
      [{ value: 'c', parent: 'x' }, 400, 'the parent "x" is not a term'],
      [{ value: 'c', status: 'archived', replaced_by: 'x' }, 400, 'replaced by "x", which is not a term'],
      ['Not a slug', 400, 'is not a slug'],
    ] as const)
      expect(errorOf(await addTerms(id, ['b', term]))).toEqual([status, expect.stringContaining(named)]);
    expect(await offered(id)).toEqual(['a']);
    const flat = await define(editor);
    expect(errorOf(await addTerms(flat.id, ['b']))).toEqual([400, 'a field of type text has no vocabulary']);
    expect((await addTerms(nowhere, ['b'])).status).toBe(404);
  });

  test('creates one term when two requests add the same one at once', async () => {
    const { id } = await vocabulary('select', []);
    const answers = await Promise.all([1, 2].map(() => addTerms(id, ['once'])));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

describe('PATCH /fields/{id}/terms/{value}', () => {
  // TERM-15
  test('changes label, status, aliases and successor independently', async () => {
    const { id } = await vocabulary('select', ['a', 'b']);
    const patch = (body: Record<string, unknown>) => patchTerm(id, 'a', body);
    const apple = { value: 'a', label: 'Apple', path: ['Apple'], status: 'active' };
    expect(JSON.parse((await patch({ label: ' Apple ' })).text)).toEqual(apple);
    await patch({ aliases: ['Pome', 'apfel'] });
    await patch({ status: 'archived', replaced_by: 'b' });
    expect(await valuesOf(id)).toEqual([
      { value: 'a', label: 'Apple', status: 'archived', replaced_by: 'b', aliases: ['apfel', 'pome'] },
      'b',
    ]);
    const refused = [400, expect.stringContaining('active and has')];
    expect(errorOf(await patch({ status: 'active' }))).toEqual(refused);
    await patch({ status: 'active', clear_replaced_by: true, aliases: [] });
    expect(await valuesOf(id)).toEqual([{ value: 'a', label: 'Apple' }, 'b']);
    const { updated_at } = await fieldOf(id);
    for (const empty of [{}, { label: null, clear_parent: false }])
      expect((await patch(empty)).status).toBe(200);
    expect((await fieldOf(id)).updated_at).toBe(updated_at);
  });

  // TERM-15
  test('refuses conflicts, cycles and unknown terms', async () => {
    const { id } = await vocabulary('select', [
      { value: 'a', label: 'Apple', aliases: ['pome'] },
      { value: 'b', label: 'Banana' },
      { value: 'c', status: 'archived', replaced_by: 'a' },
    ]);
    const archived = (replaced_by: string) => ({ status: 'archived', replaced_by });
    for (const [value, body, status, named] of [
      ['b', { label: 'POME' }, 400, '"pome" is an alias of "a"'],
      ['b', { aliases: ['apple'] }, 400, '"apple" is the label of "a"'],
      ['b', { aliases: ['a'] }, 400, '"a" is the value of "a"'],
      ['b', { aliases: ['banana'] }, 400, 'is the label of "b"'],
      ['a', { label: 'Pome' }, 400, 'the label of "a"'],
      ['a', archived('a'), 400, 'replaced by itself'],
      ['a', archived('c'), 400, '"a" is replaced by itself through a cycle: a > c > a'],
      ['a', archived('x'), 400, 'which is not a term'],
      ['a', { parent: 'b' }, 400, 'only a tree has parents'],
      ['a', { value: 'z' }, 400, 'unknown property value'],
      ['a', { replaced_by: 'b', clear_replaced_by: true }, 400, 'are mutually exclusive'],
      ['x', { label: 'y' }, 404, 'not found'],
    ] as const)
      expect(errorOf(await patchTerm(id, value, body))).toEqual([status, expect.stringContaining(named)]);
  });

  // TERM-6
  test('finds terms in both forms of Unicode, and so does a merge', async () => {
    const { id } = await vocabulary('tree', ['é', 'a', 'b']);
    const decomposed = 'é'.normalize('NFD');
    await patchTerm(id, decomposed, { label: 'É' });
    await patchTerm(id, 'a', { parent: decomposed });
    await patchTerm(id, 'b', { status: 'archived', replaced_by: decomposed });
    const children = [{ value: 'a', status: 'archived', replaced_by: 'é' }];
    const body = { source: 'a', target: decomposed, reason: 'the same' };
    await editor.ok('mergeFieldTerms', { params: { id }, body });
    expect(await valuesOf(id)).toEqual([
      { value: 'é', label: 'É', children },
      { value: 'b', status: 'archived', replaced_by: 'é' },
    ]);
  });

  test('moves a term with its descendants, but not below itself or too deep', async () => {
    const moved = { value: 'b', children: ['c'] };
    const { id } = await vocabulary('tree', [
      { value: 'a', children: [moved] },
      { value: 'x', children: ['y'] },
    ]);
    await patchTerm(id, 'b', { parent: 'y' });
    expect(await valuesOf(id)).toEqual(['a', { value: 'x', children: [{ value: 'y', children: [moved] }] }]);
    const { values } = await editor.ok('listFieldValues', { params: { id }, query: { q: 'c' } });
    expect(values[0]?.path).toEqual(['x', 'y', 'b', 'c']);
    for (const parent of ['b', 'c'])
      expect((await patchTerm(id, 'b', { parent })).text).toContain('below itself');
    await patchTerm(id, 'b', { clear_parent: true });
    expect(await valuesOf(id)).toEqual(['a', { value: 'x', children: ['y'] }, moved]);
    const levels = Array.from({ length: 7 }, (_, n) => ({ value: `l${n + 1}`, parent: `l${n}` }));
    await addTerms(id, ['l0', ...levels]);
    expect((await patchTerm(id, 'b', { parent: 'l7' })).status).toBe(200);
    expect((await patchTerm(id, 'y', { parent: 'c' })).text).toContain('more than 10 levels');
  });

  test('position is the index among siblings, after any number of moves', async () => {
    const order = ['a', 'b', 'c', 'd'];
    const { id } = await vocabulary('select', order);
    const between = Array.from({ length: 60 }, (_, n) => [n % 2 === 0 ? 'a' : 'b', 1] as const);
    for (const [value, position] of [['d', 0], ['a', 2], ['b', 99], ['c', 1], ...between] as const) {
      expect((await patchTerm(id, value, { position })).status).toBe(200);
      order.splice(order.indexOf(value), 1);
      order.splice(position, 0, value);
    }
    expect(await valuesOf(id)).toEqual(order);
  });
});

describe('GET /fields/{id}/values', () => {
  // TERM-13
  test('ranks exact matches, prefixes, then substrings, and orders each by label and slug', async () => {
    const { id } = await vocabulary('select', [
      { value: 'x1', label: 'Great Red' },
      { value: 'x2', label: 'Red' },
      { value: 'x3', label: 'Reddish' },
      { value: 'redness', label: 'A colour' },
      { value: 'x4', label: 'Scarlet', aliases: ['red one', 'bred'] },
      { value: 'red', label: 'Zinnober' },
      { value: 'x5', label: "It's 100% a_b\\c" },
      { value: 'x6', label: 'great red' },
    ]);
    expect(await offered(id, { q: ' RED ' })).toEqual(['x2', 'red', 'redness', 'x3', 'x4', 'x1', 'x6']);
    expect(await offered(id, { q: 'red', match: 'prefix' })).toEqual(['x2', 'red', 'redness', 'x3', 'x4']);
    expect(await offered(id)).toEqual(['redness', 'x1', 'x6', 'x5', 'x2', 'x3', 'x4', 'red']);
    for (const q of ['%', '_', "'s", '\\']) expect([q, await offered(id, { q })]).toEqual([q, ['x5']]);
  });

  // TERM-13
  test('returns the exact number of matches', async () => {
    const values = ['aa', 'ab', 'ac', { value: 'ad', status: 'archived' }, 'b'];
    const { id } = await vocabulary('multi_select', values, { open_vocabulary: true });
    const query = { q: 'a', limit: 2 };
    expect(await editor.ok('listFieldValues', { params: { id }, query })).toMatchObject({
      matched: 3,
      returned: 2,
      limit: 2,
      truncated: true,
      vocabulary_size: 5,
      open_vocabulary: true,
      can_extend: true,
    });
    const none = await editor.ok('listFieldValues', { params: { id }, query: { q: 'zzz' } });
    expect(none).toMatchObject({ values: [], matched: 0, returned: 0, truncated: false, vocabulary_size: 5 });
  });

  // TERM-2, TERM-13
  test('returns active terms unless another status is requested', async () => {
    const off = { value: 'off', status: 'archived', replaced_by: 'on', aliases: ['away'] };
    const { id } = await vocabulary('select', ['on', { value: 'old', status: 'deprecated' }, off]);
    expect(await offered(id)).toEqual(['on']);
    expect([await offered(id, { q: 'o' }), await offered(id, { q: 'away' })]).toEqual([['on'], []]);
    expect(await offered(id, { status: 'deprecated' })).toEqual(['old']);
    expect(await offered(id, { status: 'any' })).toEqual(['off', 'old', 'on']);
    const { values } = await editor.ok('listFieldValues', { params: { id }, query: { status: 'archived' } });
    expect(values).toEqual([{ ...off, label: 'off', path: ['off'] }]);
  });

  // TERM-9, TERM-14
  test('can extend a multi_select only, and is refused for a field without a vocabulary', async () => {
    for (const type of ['select', 'tree'] as const) {
      const { id } = await vocabulary(type, ['a'], { open_vocabulary: true });
      const answer = await stranger.ok('listFieldValues', { params: { id } });
      expect(answer).toMatchObject({ open_vocabulary: false, can_extend: false });
    }
    const { id } = await define(editor);
    expect(await stranger.refused('listFieldValues', { params: { id } })).toEqual({
      status: 400,
      error: 'a field of type text has no vocabulary',
    });
  });
});

describe('POST /fields/{id}/values/merge', () => {
  type Merge = { source: string; target: string; reason?: string; dry_run?: boolean };
  const merge = (id: string, body: Merge, who = editor) =>
    who.send(`/fields/${id}/values/merge`, { method: 'POST', body: { reason: 'a duplicate', ...body } });

  // TERM-16
  test('moves values, aliases, defaults and conditions, and leaves a tombstone', async () => {
    const { id, code } = await vocabulary(
      'multi_select',
      [
        { value: 'nyc', label: 'NYC', aliases: ['big apple'] },
        'new-york',
        'paris',
        { value: 'ny', status: 'archived', replaced_by: 'nyc' },
      ],
      { default_value: { kind: 'literal', value_options: ['nyc', 'new-york'] } },
    );
    const hint = await define(editor);
    await change(editor, hint.id, { display_condition: [`${code} = nyc`, 'title~x'] });
    const before = ['paris', 'nyc'];
    const after = ['paris', 'new-york'];
    await store(id, { value_options: before });
    const counts = { assets: 1, collections: 0, aliases: 1, defaults: 1, conditions: 1 };
    for (const [dry_run, stored] of [
      [true, before],
      [false, after],
    ] as const) {
      const asked = { source: 'nyc', target: 'new-york', dry_run };
      expect(JSON.parse((await merge(id, asked)).text)).toEqual({ ...asked, ...counts });
      expect(await storedValue(id)).toEqual(stored);
    }
    const field = await fieldOf(id);
    expect(field.options.values).toEqual([
      { value: 'nyc', label: 'NYC', status: 'archived', replaced_by: 'new-york' },
      { value: 'new-york', aliases: ['big apple'] },
      'paris',
      { value: 'ny', status: 'archived', replaced_by: 'new-york' },
    ]);
    expect(field.default_value).toEqual({ kind: 'literal', value_options: ['new-york'] });
    expect((await fieldOf(hint.id)).display_condition).toEqual([`${code}=new-york`, 'title~x']);
    const { items } = await editor.ok('listAssetFieldHistory', { params: { id: asset, field_id: id } });
    expect(items).toMatchObject([
      {
        before: { value_options: before },
        after: { value_options: after },
        set_by_user_ref: editor.ref,
      },
    ]);
    const event = 'field.terms.merged';
    expect(await auditEvents(library, { event, target_id: id })).toMatchObject([
      { metadata: { reason: 'a duplicate' } },
    ]);
  });

  test('keeps the target once in values that have both terms, and replaces single values', async () => {
    const many = await vocabulary('multi_select', ['a', 'b', 'c']);
    await store(many.id, { value_options: ['a', 'c', 'b'] });
    const one = await vocabulary('select', ['a', 'b']);
    await store(one.id, { value_text: 'b' });
    for (const { id } of [many, one]) await merge(id, { source: 'b', target: 'a' });
    expect([await storedValue(many.id), await storedValue(one.id)]).toEqual([['a', 'c'], 'a']);
  });

  test('a concurrent write cannot keep the merged term', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { id } = await vocabulary('select', ['a', 'b']);
      await Promise.all([
        merge(id, { source: 'b', target: 'a' }),
        stranger.ok('setAssetFieldValue', { params: { id: asset, field_id: id }, body: { value_text: 'b' } }),
      ]);
      expect(await storedValue(id)).toBe('a');
    }
  });

  // TERM-16, TERM-18
  test('requires its capability, and the right to see the field: otherwise 404', async () => {
    const { id } = await vocabulary('select', ['a', 'b'], { read_capability: 'content.read.all' });
    const merger = await library.join('merger');
    const asked = { source: 'a', target: 'b', dry_run: true };
    await grant(library, merger, 'fields.admin');
    const missing = [403, 'missing capability fields.vocabulary.merge'];
    expect(errorOf(await merge(id, asked, merger))).toEqual(missing);
    await withdrawGrants(library, merger);
    await grant(library, merger, 'fields.vocabulary.merge');
    expect(errorOf(await merge(id, asked, merger))).toEqual(errorOf(await merge(nowhere, asked, merger)));
    await grant(library, merger, 'content.read.all');
    expect((await merge(id, asked, merger)).status).toBe(200);
  });

  // TERM-17
  test('refuses terms with children, and targets that are archived or have a successor', async () => {
    const { id } = await vocabulary('tree', [
      'a',
      { value: 'b', children: ['c'] },
      { value: 'gone', status: 'archived' },
      { value: 'old', status: 'deprecated', replaced_by: 'a' },
      { value: 'merged', status: 'archived', replaced_by: 'a' },
      { value: 'd', children: ['e', { value: 'f', status: 'archived' }] },
    ]);
    for (const [source, target, named] of [
      ['a', 'a', 'the same term'],
      ['x', 'a', 'source: "x" is not a term'],
      ['a', 'x', 'target: "x" is not a term'],
      ['a', 'gone', '"gone" is archived'],
      ['a', 'old', 'has a successor'],
      ['merged', 'c', 'has already been merged'],
      ['b', 'a', 'has narrower terms'],
      ['a', 'd', '"d" has narrower terms'],
    ] as const)
      expect(errorOf(await merge(id, { source, target }))).toEqual([400, expect.stringContaining(named)]);
    expect((await merge(id, { source: 'c', target: 'a', reason: 'no' })).status).toBe(400);
    // Its last child may be merged into it, which makes it a leaf.
    expect((await merge(id, { source: 'e', target: 'd', dry_run: true })).status).toBe(200);
  });
});
