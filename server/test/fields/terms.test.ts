import type { FieldCreate } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { addTeam, arrive, bearer, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { change, define, notChanged, notDefined } from './define.ts';

let library: Library;
let editor: Account;
let stranger: Account;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  editor = await arrive(library, 'editor');
  stranger = await arrive(library, 'stranger');
  await grant(library, editor, 'fields.admin');
  await grant(library, editor, 'fields.vocabulary.merge');
  asset = (await upload(stranger, plainFile())).id;
});

type Kind = 'select' | 'multi_select' | 'tree';
const vocabulary = (type: Kind, values: unknown[], more: Partial<FieldCreate> = {}) =>
  define(editor, { type, options: { values }, ...more });
const valuesOf = async (id: string, who: Visitor = editor) =>
  (await who.ok('getField', { params: { id } })).options.values;
const offered = async (id: string, query = {}, who: Visitor = editor) => {
  const answer = await who.ok('listFieldValues', { params: { id }, query });
  return answer.values.map(({ value }) => value);
};
const patchTerm = (id: string, value: string, body: Record<string, unknown>) =>
  editor.send(`/fields/${id}/terms/${encodeURIComponent(value)}`, { method: 'PATCH', body });
const errorOf = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).error];

/** Inserts a value of the asset in its stored form. */
async function store(field_id: string, value: { value_text: string } | { value_options: string[] }) {
  await library.deps.db
    .insertInto('asset_field_values')
    .values({ asset_id: asset, field_id, set_by: 'manual', ...value })
    .onConflict((conflict) => conflict.columns(['asset_id', 'field_id']).doUpdateSet(value))
    .execute();
}

const storedValue = (field_id: string) =>
  library.deps.db
    .selectFrom('asset_field_values')
    .select(['value_text', 'value_options'])
    .where('field_id', '=', field_id)
    .execute();

// TERM-1
describe('options over HTTP', () => {
  // TERM-1
  test('stores a vocabulary in its order and as written', async () => {
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
    expect(await valuesOf(id, stranger)).toEqual(turned);
  });

  test('returns 400 that names the term', async () => {
    const deep = [{ value: 'a', children: [{ value: 'b', children: [{ value: 'c', children: ['a'] }] }] }];
    for (const [values, named] of [
      [deep, 'the value "a" occurs twice'],
      [['x', { value: 'y', label: 'Same' }, { value: 'z', aliases: ['same'] }], 'the label of "y"'],
      [[{ value: 'a', status: 'archived', replaced_by: 'a' }], '"a" is replaced by itself'],
    ] as const)
      expect(await notDefined(editor, { type: 'tree', options: { values } })).toContain(named);
  });

  test('keeps the vocabulary when other options change', async () => {
    const { id } = await vocabulary('multi_select', ['a', 'b']);
    expect((await change(editor, id, { options: { max_items: 2 } })).options).toEqual({
      max_items: 2,
      values: ['a', 'b'],
    });
  });

  // TERM-11
  test('refuses to omit a term that values use, and removes an unused one', async () => {
    const one = await vocabulary('select', ['a', 'b', 'c']);
    await store(one.id, { value_text: 'a' });
    expect(await notChanged(editor, one.id, { options: { values: ['b'] } })).toContain('values use "a"');
    await change(editor, one.id, { options: { values: [{ value: 'a', status: 'deprecated' }] } });
    const many = await vocabulary('multi_select', ['a', 'b', 'c']);
    await store(many.id, { value_options: ['b', 'c'] });
    expect(await notChanged(editor, many.id, { options: { values: ['a', 'b'] } })).toContain(
      'values use "c"',
    );
    expect((await change(editor, many.id, { options: { values: ['c', 'b'] } })).options.values).toEqual([
      'c',
      'b',
    ]);
  });

  // TERM-12
  test('truncates a vocabulary after 2,000 terms, marks it as truncated, and refuses to write it back', async () => {
    const { id } = await vocabulary('multi_select', []);
    const terms = Array.from({ length: 2001 }, (_, n) => `term-${n}`);
    const added = await editor.ok('addFieldTerms', { params: { id }, body: { terms } });
    expect(added).toEqual({ added: 2001, vocabulary_size: 2001 });
    const { options } = await editor.ok('getField', { params: { id } });
    expect(options).toEqual({ values: terms.slice(0, 2000), truncated: true, vocabulary_size: 2001 });
    expect(await notChanged(editor, id, { options })).toContain('truncated');
    const listed = (await editor.ok('listFields', { query: { limit: 200 } })).items.find(
      (one) => one.id === id,
    );
    expect(listed?.options).toMatchObject({ truncated: true, vocabulary_size: 2001 });
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
    expect(await valuesOf(id)).toEqual([
      {
        value: 'europe',
        children: [
          { value: 'france', label: 'France', children: [{ value: 'paris', aliases: ['lutetia'] }] },
        ],
      },
      'asia',
      { value: 'gaul', status: 'archived', replaced_by: 'france' },
    ]);
  });

  // TERM-15
  test('adds nothing if any term conflicts with an existing one', async () => {
    const { id } = await vocabulary('select', [{ value: 'a', label: 'Apple', aliases: ['fruit'] }]);
    const flat = await define(editor);
    const add = (terms: unknown[], to = id) =>
      editor.send(`/fields/${to}/terms`, { method: 'POST', body: { terms } });
    for (const [terms, status, named] of [
      [['b', 'a'], 409, '"a" already exists'],
      [['b', 'b'], 400, '"b" occurs twice'],
      [['b', 'fruit'], 400, '"fruit" is an alias of "a"'],
      [['b', { value: 'c', label: 'FRUIT' }], 400, '"fruit" is an alias of "a"'],
      [['b', { value: 'c', aliases: ['Fruit'] }], 400, '"fruit" is an alias of "a"'],
      [['b', { value: 'c', aliases: ['APPLE'] }], 400, '"apple" is the label of "a"'],
      [['b', { value: 'c', aliases: ['A'] }], 400, '"a" is the value of "a"'],
      [['b', { value: 'c', parent: 'a' }], 400, 'which only a tree has'],
      [['b', { value: 'c', parent: 'x' }], 400, 'the parent "x" is not a term'],
      [
        ['b', { value: 'c', status: 'archived', replaced_by: 'x' }],
        400,
        'replaced by "x", which is not a term',
      ],
      [['b', 'Not a slug'], 400, 'is not a slug'],
      [[], 400, 'terms'],
      [Array.from({ length: 5001 }, (_, n) => `n${n}`), 400, 'terms'],
    ] as const)
      expect(errorOf(await add([...terms]))).toEqual([status, expect.stringContaining(named)]);
    expect(errorOf(await add(['b'], flat.id))).toEqual([400, 'a field of type text has no vocabulary']);
    expect((await add(['b'], nowhere)).status).toBe(404);
    expect(await offered(id)).toEqual(['a']);
    expect((await stranger.refused('addFieldTerms', { params: { id }, body: { terms: ['b'] } })).status).toBe(
      403,
    );
    const script = await bearer(library, editor, ['read']);
    expect((await script.refused('addFieldTerms', { params: { id }, body: { terms: ['b'] } })).status).toBe(
      403,
    );
  });

  test('creates one term when two requests add the same one at once', async () => {
    const { id } = await vocabulary('select', []);
    const body = { terms: ['once'] };
    const answers = await Promise.all(
      [1, 2].map(() => editor.send(`/fields/${id}/terms`, { method: 'POST', body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

describe('PATCH /fields/{id}/terms/{value}', () => {
  // TERM-15
  test('changes label, status, aliases and successor independently', async () => {
    const { id } = await vocabulary('select', ['a', 'b']);
    const patch = (body: Record<string, unknown>) => patchTerm(id, 'a', body);
    expect(JSON.parse((await patch({ label: ' Apple ' })).text)).toEqual({
      value: 'a',
      label: 'Apple',
      path: ['Apple'],
      status: 'active',
    });
    await patch({ aliases: ['Pome', 'apfel'] });
    await patch({ status: 'archived', replaced_by: 'b' });
    expect(await valuesOf(id)).toEqual([
      { value: 'a', label: 'Apple', status: 'archived', replaced_by: 'b', aliases: ['apfel', 'pome'] },
      'b',
    ]);
    expect(errorOf(await patch({ status: 'active' }))).toEqual([
      400,
      expect.stringContaining('active and has'),
    ]);
    await patch({ status: 'active', clear_replaced_by: true, aliases: [] });
    expect(await valuesOf(id)).toEqual([{ value: 'a', label: 'Apple' }, 'b']);
  });

  test('changes nothing for an empty body', async () => {
    const { id } = await vocabulary('select', ['a']);
    const { updated_at } = await editor.ok('getField', { params: { id } });
    for (const body of [{}, { label: null, clear_parent: false }])
      expect((await patchTerm(id, 'a', body)).status).toBe(200);
    expect((await editor.ok('getField', { params: { id } })).updated_at).toBe(updated_at);
  });

  // TERM-15
  test('refuses conflicts, cycles and unknown terms', async () => {
    const { id } = await vocabulary('select', [
      { value: 'a', label: 'Apple', aliases: ['pome'] },
      { value: 'b', label: 'Banana' },
      { value: 'c', status: 'archived', replaced_by: 'a' },
    ]);
    for (const [value, body, status, named] of [
      ['b', { label: 'POME' }, 400, '"pome" is an alias of "a"'],
      ['b', { aliases: ['apple'] }, 400, '"apple" is the label of "a"'],
      ['b', { aliases: ['a'] }, 400, '"a" is the value of "a"'],
      ['b', { aliases: ['banana'] }, 400, 'is the label of "b"'],
      ['a', { label: 'Pome' }, 400, 'the label of "a"'],
      ['a', { status: 'archived', replaced_by: 'a' }, 400, 'replaced by itself'],
      [
        'a',
        { status: 'archived', replaced_by: 'c' },
        400,
        '"a" is replaced by itself through a cycle: a > c > a',
      ],
      ['a', { status: 'archived', replaced_by: 'x' }, 400, 'which is not a term'],
      ['a', { parent: 'b' }, 400, 'only a tree has parents'],
      ['a', { value: 'z' }, 400, 'unknown property value'],
      ['a', { replaced_by: 'b', clear_replaced_by: true }, 400, 'are mutually exclusive'],
      ['x', { label: 'y' }, 404, 'not found'],
    ] as const)
      expect(errorOf(await patchTerm(id, value, body))).toEqual([status, expect.stringContaining(named)]);
    const refused = await stranger.refused('updateFieldTerm', {
      params: { id, value: 'a' },
      body: { label: 'x' },
    });
    expect(refused.status).toBe(403);
  });

  test('moves a term with its descendants, but not below itself or too deep', async () => {
    const { id } = await vocabulary('tree', [
      { value: 'a', children: [{ value: 'b', children: ['c'] }] },
      { value: 'x', children: ['y'] },
    ]);
    await patchTerm(id, 'b', { parent: 'y' });
    expect(await valuesOf(id)).toEqual([
      'a',
      { value: 'x', children: [{ value: 'y', children: [{ value: 'b', children: ['c'] }] }] },
    ]);
    expect(
      (await editor.ok('listFieldValues', { params: { id }, query: { q: 'c' } })).values[0]?.path,
    ).toEqual(['x', 'y', 'b', 'c']);
    for (const parent of ['b', 'c'])
      expect(errorOf(await patchTerm(id, 'b', { parent }))).toEqual([
        400,
        expect.stringContaining('below itself'),
      ]);
    await patchTerm(id, 'b', { clear_parent: true });
    expect(await valuesOf(id)).toEqual([
      'a',
      { value: 'x', children: ['y'] },
      { value: 'b', children: ['c'] },
    ]);
    const levels = Array.from({ length: 8 }, (_, n) => ({
      value: `l${n}`,
      ...(n === 0 ? {} : { parent: `l${n - 1}` }),
    }));
    await editor.ok('addFieldTerms', { params: { id }, body: { terms: levels } });
    expect((await patchTerm(id, 'b', { parent: 'l7' })).status).toBe(200);
    expect(errorOf(await patchTerm(id, 'y', { parent: 'c' }))).toEqual([
      400,
      expect.stringContaining('more than 10 levels'),
    ]);
  });

  test('position is the index among siblings, after any number of moves', async () => {
    const { id } = await vocabulary('select', ['a', 'b', 'c', 'd']);
    const order = ['a', 'b', 'c', 'd'];
    for (const [value, position] of [
      ['d', 0],
      ['a', 2],
      ['b', 99],
      ['c', 1],
      ...Array.from({ length: 70 }, (_, n) => [n % 2 === 0 ? 'a' : 'b', 1] as const),
    ] as const) {
      expect((await patchTerm(id, value, { position })).status).toBe(200);
      order.splice(order.indexOf(value), 1);
      order.splice(position, 0, value);
    }
    expect(await valuesOf(id)).toEqual(order);
  });
});

// TERM-13
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
      { value: 'x5', label: 'Blue' },
      { value: 'x6', label: 'great red' },
    ]);
    expect(await offered(id, { q: ' RED ' })).toEqual(['x2', 'red', 'redness', 'x3', 'x4', 'x1', 'x6']);
    expect(await offered(id, { q: 'red', match: 'prefix' })).toEqual(['x2', 'red', 'redness', 'x3', 'x4']);
    expect(await offered(id)).toEqual(['redness', 'x5', 'x1', 'x6', 'x2', 'x3', 'x4', 'red']);
  });

  // TERM-13
  test('returns the exact number of matches', async () => {
    const { id } = await vocabulary(
      'multi_select',
      ['aa', 'ab', 'ac', { value: 'ad', status: 'archived' }, 'b'],
      {
        open_vocabulary: true,
      },
    );
    const answer = await editor.ok('listFieldValues', { params: { id }, query: { q: 'a', limit: 2 } });
    expect(answer).toMatchObject({
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
    const { id } = await vocabulary('select', [
      'on',
      { value: 'old', status: 'deprecated' },
      { value: 'off', status: 'archived', replaced_by: 'on', aliases: ['away'] },
    ]);
    expect(await offered(id)).toEqual(['on']);
    expect(await offered(id, { q: 'o' })).toEqual(['on']);
    expect(await offered(id, { q: 'away' })).toEqual([]);
    expect(await offered(id, { status: 'deprecated' })).toEqual(['old']);
    expect(await offered(id, { status: 'any' })).toEqual(['off', 'old', 'on']);
    const { values } = await editor.ok('listFieldValues', { params: { id }, query: { status: 'archived' } });
    expect(values).toEqual([
      { value: 'off', label: 'off', path: ['off'], status: 'archived', replaced_by: 'on', aliases: ['away'] },
    ]);
  });

  // TERM-9
  test('open_vocabulary has an effect only on multi_select, and adding terms requires its capability', async () => {
    const member = await arrive(library, 'member');
    const viewer = await arrive(library, 'viewer', 'viewer');
    const helper = await arrive(library, 'helper', 'viewer');
    await grant(library, helper, 'fields.vocabulary.extend');
    const local = await arrive(library, 'local', 'viewer');
    await grant(library, local, 'fields.vocabulary.extend', await addTeam(library, 'locals'));
    for (const [type, isOpen] of [
      ['multi_select', true],
      ['select', false],
      ['tree', false],
    ] as const) {
      const { id } = await vocabulary(type, ['a'], { open_vocabulary: true });
      for (const [who, extends_] of [
        [member, isOpen],
        [helper, isOpen],
        [local, isOpen],
        [viewer, false],
      ] as const)
        expect(await who.ok('listFieldValues', { params: { id } })).toMatchObject({
          open_vocabulary: isOpen,
          can_extend: extends_,
        });
    }
  });

  test('treats wildcards and quotes as plain characters', async () => {
    const { id } = await vocabulary('select', [
      { value: 'a', label: '100%' },
      { value: 'b', label: "it's a_b\\c" },
    ]);
    expect(await offered(id, { q: '%' })).toEqual(['a']);
    expect(await offered(id, { q: '_' })).toEqual(['b']);
    expect(await offered(id, { q: "'s" })).toEqual(['b']);
    expect(await offered(id, { q: '\\' })).toEqual(['b']);
  });

  // TERM-14
  test('requires that the caller may see the field and that it has a vocabulary', async () => {
    const { id } = await vocabulary('select', ['a'], { read_capability: 'jobs.read' });
    const open = await vocabulary('select', ['a']);
    const text = await define(editor);
    await library.setPublicMode(true);
    const anonymous = library.anonymous();
    expect((await anonymous.refused('listFieldValues', { params: { id } })).status).toBe(404);
    expect(await offered(open.id, {}, anonymous)).toEqual(['a']);
    await library.setPublicMode(false);
    expect((await anonymous.refused('listFieldValues', { params: { id: open.id } })).status).toBe(401);
    expect((await stranger.refused('listFieldValues', { params: { id } })).status).toBe(404);
    expect((await stranger.refused('listFieldValues', { params: { id: nowhere } })).status).toBe(404);
    expect(await stranger.refused('listFieldValues', { params: { id: text.id } })).toEqual({
      status: 400,
      error: 'a field of type text has no vocabulary',
    });
    await editor.ok('archiveField', { params: { id: open.id } });
    expect((await stranger.refused('listFieldValues', { params: { id: open.id } })).status).toBe(404);
  });
});

// TERM-16
describe('POST /fields/{id}/values/merge', () => {
  const merge = (
    id: string,
    body: { source: string; target: string; reason?: string; dry_run?: boolean },
    who = editor,
  ) => who.send(`/fields/${id}/values/merge`, { method: 'POST', body: { reason: 'a duplicate', ...body } });

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
    await store(id, { value_options: ['paris', 'nyc'] });
    const dry = await merge(id, { source: 'nyc', target: 'new-york', dry_run: true });
    const counts = { assets: 1, collections: 0, aliases: 1, defaults: 1, conditions: 1 };
    expect(JSON.parse(dry.text)).toEqual({ source: 'nyc', target: 'new-york', dry_run: true, ...counts });
    expect(await storedValue(id)).toEqual([{ value_text: null, value_options: ['paris', 'nyc'] }]);
    expect(JSON.parse((await merge(id, { source: 'nyc', target: 'new-york' })).text)).toEqual({
      source: 'nyc',
      target: 'new-york',
      dry_run: false,
      ...counts,
    });
    expect(await storedValue(id)).toEqual([{ value_text: null, value_options: ['paris', 'new-york'] }]);
    const field = await editor.ok('getField', { params: { id } });
    expect(field.options.values).toEqual([
      { value: 'nyc', label: 'NYC', status: 'archived', replaced_by: 'new-york' },
      { value: 'new-york', aliases: ['big apple'] },
      'paris',
      { value: 'ny', status: 'archived', replaced_by: 'new-york' },
    ]);
    expect(field.default_value).toEqual({ kind: 'literal', value_options: ['new-york'] });
    expect((await editor.ok('getField', { params: { id: hint.id } })).display_condition).toEqual([
      `${code}=new-york`,
      'title~x',
    ]);
    const history = await library.deps.db
      .selectFrom('field_value_history')
      .select(['before', 'after', 'actor_user_ref'])
      .where('field_id', '=', id)
      .execute();
    expect(history).toEqual([
      {
        before: { value_options: ['paris', 'nyc'] },
        after: { value_options: ['paris', 'new-york'] },
        actor_user_ref: editor.ref,
      },
    ]);
    const { rows } = await sql<object>`select event, metadata->>'reason' as reason from audit_events
      where target_id = ${id} and event like '%merged'`.execute(library.deps.db);
    expect(rows).toEqual([{ event: 'field.terms.merged', reason: 'a duplicate' }]);
  });

  test('keeps the target once in values that have both terms, and replaces single values', async () => {
    const many = await vocabulary('multi_select', ['a', 'b', 'c']);
    await store(many.id, { value_options: ['a', 'c', 'b'] });
    await merge(many.id, { source: 'b', target: 'a' });
    expect((await storedValue(many.id))[0]?.value_options).toEqual(['a', 'c']);
    const one = await vocabulary('select', ['a', 'b']);
    await store(one.id, { value_text: 'b' });
    await merge(one.id, { source: 'b', target: 'a' });
    expect((await storedValue(one.id))[0]?.value_text).toBe('a');
  });

  test('a concurrent write cannot keep the merged term', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id } = await vocabulary('select', ['a', 'b']);
      await Promise.all([
        merge(id, { source: 'b', target: 'a' }),
        stranger.ok('setAssetFieldValue', { params: { id: asset, field_id: id }, body: { value_text: 'b' } }),
      ]);
      expect((await storedValue(id))[0]?.value_text).toBe('a');
    }
  });

  // TERM-18
  test('returns the 404 of a missing field if the caller may not see it', async () => {
    const { id } = await vocabulary('select', ['a', 'b'], { read_capability: 'content.read.all' });
    const merger = await arrive(library, 'merger');
    await grant(library, merger, 'fields.vocabulary.merge');
    const asked = { source: 'a', target: 'b', dry_run: true };
    expect(errorOf(await merge(id, asked, merger))).toEqual(errorOf(await merge(nowhere, asked, merger)));
    await grant(library, merger, 'content.read.all');
    expect((await merge(id, asked, merger)).status).toBe(200);
  });

  // TERM-16, TERM-17
  test('refuses invalid merges and callers without the capability', async () => {
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
    // Its last child may be merged into it, which makes it a leaf.
    expect((await merge(id, { source: 'e', target: 'd', dry_run: true })).status).toBe(200);
    expect((await merge(id, { source: 'c', target: 'a', reason: 'no' })).status).toBe(400);
    expect((await merge(nowhere, { source: 'c', target: 'a' })).status).toBe(404);
    const admin = await arrive(library, 'only fields.admin');
    await grant(library, admin, 'fields.admin');
    for (const who of [stranger, admin])
      expect(errorOf(await merge(id, { source: 'c', target: 'a' }, who))).toEqual([
        403,
        'missing capability fields.vocabulary.merge',
      ]);
  });
});
