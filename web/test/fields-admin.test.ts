import { CallError } from '@vitrine/contract/client';
import { factsOf, fieldTypes, longestValue } from '@vitrine/contract/field-types';
import { describe, expect, it } from 'vitest';
import { arrange, ordersFor } from '#lib/fields/admin/arrange.ts';
import { controllersFor, holdsFor, readCondition, writeTerm } from '#lib/fields/admin/condition.ts';
import { defaultOf, draftOf, spoken } from '#lib/fields/admin/default.ts';
import { draftOfOptions, optionsWith } from '#lib/fields/admin/options.ts';
import { tryPattern } from '#lib/fields/admin/pattern.ts';
import { refusalOf } from '#lib/fields/admin/refusal.ts';
import {
  inParts,
  linesOf,
  mayMove,
  moveByDrop,
  moveByKey,
  moved,
  readAliases,
  readPasted,
  readVocabulary,
  slugOf,
  type TermNode,
} from '#lib/fields/admin/vocabulary.ts';
import { viewOf } from '#lib/fields/types/registry.ts';
import { fieldOf } from './samples.ts';

describe('the list of fields', () => {
  it('is by subject, tab and group, each at the position of its first field', () => {
    const subjects = arrange([
      fieldOf('late', { display_order: 300, display_group: 'Rights' }),
      fieldOf('season', { subject_kind: 'collection', display_order: 1 }),
      fieldOf('b', { display_group: 'Picture' }),
      fieldOf('a', { display_group: 'Picture' }),
      fieldOf('tabbed', { edit_tab: 'Details', display_order: 200 }),
    ]);
    const told = subjects.flatMap(({ kind, tabs }) =>
      tabs.flatMap(({ name, groups }) =>
        groups.map((group) => `${kind}, ${name}, ${group.name}: ${group.fields.map(({ code }) => code)}`),
      ),
    );
    expect(told).toEqual([
      'asset, null, Picture: a,b',
      'asset, null, Rights: late',
      'asset, Details, general: tabbed',
      'collection, null, general: season',
    ]);
  });

  it('writes one order if a number fits between the neighbours, otherwise renumbers the group', () => {
    const two = [10, 20].map((display_order) => fieldOf(`${display_order}`, { display_order }));
    const c = fieldOf('c');
    expect([...ordersFor(two, c, 1)]).toEqual([['c', 15]]);
    expect([...ordersFor(two, c, 0)]).toEqual([['c', 0]]);
    expect([...ordersFor(two, c, 2)]).toEqual([['c', 30]]);
    expect([...ordersFor([], c, 0)]).toEqual([['c', 100]]);
    const same = [fieldOf('x'), fieldOf('y')];
    expect([...ordersFor(same, fieldOf('z'), 1)]).toEqual([
      ['z', 110],
      ['y', 120],
    ]);
  });
});

it('refusals are about the property of their code, and keep the text that was typed', () => {
  const refused = (header: string, text: string) =>
    refusalOf(new CallError(400, text, new Headers({ 'vitrine-error': header })));
  const text = '"read_only=x": there is no field read_only_x';
  const condition = 'condition-field-not-found;property="display_condition";term="read_only=x"';
  const refusal = refused(condition, `display_condition: ${text}`);
  expect(refusal.about('display_condition')).toBe(`The condition: ${text}.`);
  expect(refusal.beside('display_condition')).toBeUndefined();
  expect(refusal.beside('code')).toBe(`The condition: ${text}.`);
  const limits = refused('options-bounds-reversed;property="min";other="max"', 'options: min is above max');
  expect(limits.about('min')).toBe('Min is above max.');
  expect(refusalOf(undefined).beside()).toBeUndefined();
});

// FIELD-24
describe('display conditions', () => {
  it('are split at the first operator and serialised again', () => {
    const terms = readCondition([' Kind = photo ', 'note~a=b', 'broken', 'n>=5']);
    expect(terms).toEqual([
      { code: 'kind', operator: '=', value: 'photo' },
      { code: 'note', operator: '~', value: 'a=b' },
    ]);
    expect(terms.map(writeTerm)).toEqual(['kind=photo', 'note~a=b']);
  });

  it('hold when all terms match exactly, by membership, or as a part ignoring case', () => {
    const terms = readCondition(['kind=photo', 'tags=boat', 'note~PIER']);
    expect(holdsFor(terms, { kind: 'photo', tags: ['sea', 'boat'], note: 'At the pier' })).toBe(true);
    expect(holdsFor(terms, { kind: 'Photo', tags: ['boat'], note: 'pier' })).toBe(false);
    expect(holdsFor(terms, { kind: 'photo', tags: ['boat'] })).toBe(false);
  });

  it('refer to other comparable fields of the same kind', () => {
    const owner = fieldOf('own');
    const others = [
      owner,
      fieldOf('t'),
      fieldOf('n', { type: 'number' }),
      fieldOf('c', { subject_kind: 'collection' }),
      fieldOf('gone', { status: 'archived' }),
      fieldOf('s', { type: 'select' }),
    ];
    expect(controllersFor(others, owner).map(({ code }) => code)).toEqual(['t', 's']);
  });
});

describe('defaults', () => {
  it('depend on the type and report missing values', () => {
    const literal = (text: string) => ({ kind: 'literal' as const, text, terms: [] });
    const of = (value: object) => ({ kind: 'literal', ...value });
    const id = '0192f0c1-2b3c-4d5e-8f90-a1b2c3d4e5f6';
    expect(defaultOf('text', { kind: 'none', text: '', terms: [] })).toBeUndefined();
    expect(defaultOf('text', literal(' '))).toBeNull();
    expect(defaultOf('number', literal('2.5'))).toEqual(of({ value_num: 2.5 }));
    expect(defaultOf('number', literal('two'))).toBeNull();
    expect(defaultOf('boolean', literal('no'))).toEqual(of({ value_num: 0 }));
    expect(defaultOf('date', literal('2026-11-21'))).toEqual(of({ value_date: '2026-11-21T00:00:00Z' }));
    expect(defaultOf('multi_select', { ...literal(''), terms: ['a'] })).toEqual(of({ value_options: ['a'] }));
    const link = literal(`https://x.example/assets/${id}?a=1`);
    expect(defaultOf('reference', link)).toEqual(of({ value_ref: id }));
    const today = { kind: 'context', context: 'current_date' };
    expect(defaultOf('date', { kind: 'current_date', text: '', terms: [] })).toEqual(today);
  });

  it('survive a round trip through the form', () => {
    for (const [type, value] of [
      ['number', { kind: 'literal', value_num: 0 }],
      ['boolean', { kind: 'literal', value_num: 0 }],
      ['datetime', { kind: 'literal', value_date: '2026-11-21T10:30:00.000Z' }],
      ['text', { kind: 'context', context: 'uploading_user' }],
    ] as const) {
      expect(defaultOf(type, draftOf(type, value))).toEqual(value);
    }
    expect(spoken('boolean', { kind: 'literal', value_num: 0 })).toBe('No');
    expect(spoken('text', { kind: 'context', context: 'uploading_team' })).toBe('The uploader’s team');
  });
});

it('limits are those that the service checks for the type', () => {
  const shown = fieldTypes.map((type) => [type, viewOf[type].constraints.map(({ name }) => name)]);
  expect(shown).toEqual(fieldTypes.map((type) => [type, factsOf[type].constraints]));
});

it('limits are written without the vocabulary and keep unknown keys', () => {
  const options = { values: ['a'], truncated: true, vocabulary_size: 9, min_items: 1, unit: 'cm' };
  expect(draftOfOptions('multi_select', options)).toEqual({ min_items: '1', max_items: '' });
  const written = optionsWith('multi_select', options, { min_items: '', max_items: '3' });
  expect(written).toEqual({ unit: 'cm', max_items: 3 });
  expect(optionsWith('number', {}, { min: '-1.5', integer: 'on' })).toEqual({ min: -1.5, integer: true });
});

const tree = readVocabulary({
  values: [
    { value: 'eu', label: 'Europe', children: [{ value: 'de', children: ['hamburg', 'berlin'] }, 'fr'] },
    { value: 'as', status: 'archived', replaced_by: 'eu', aliases: ['asia'] },
  ],
});
const shape = (nodes: readonly TermNode[]): unknown[] =>
  nodes.map(({ value, children }) => (children.length === 0 ? value : [value, shape(children)]));
const all = (nodes: readonly TermNode[]) => linesOf(nodes, () => true);

describe('vocabularies', () => {
  it('are read from the definition, ignoring invalid entries', () => {
    expect(shape(tree)).toEqual([['eu', [['de', ['hamburg', 'berlin']], 'fr']], 'as']);
    expect(tree[1]).toMatchObject({ label: 'as', status: 'archived', replacedBy: 'eu', aliases: ['asia'] });
    expect(readVocabulary({ values: [7, null, { label: 'x' }] })).toEqual([]);
    expect(readVocabulary({})).toEqual([]);
  });

  it('are reordered by keyboard: up, down, in and out', () => {
    const by = (value: string, key: string) => {
      const move = moveByKey(all(tree), value, key);
      return move && shape(moved(tree, move));
    };
    expect(by('fr', 'ArrowUp')).toEqual([['eu', ['fr', ['de', ['hamburg', 'berlin']]]], 'as']);
    expect(by('hamburg', 'ArrowDown')).toEqual([['eu', [['de', ['berlin', 'hamburg']], 'fr']], 'as']);
    expect(by('fr', 'ArrowRight')).toEqual([['eu', [['de', ['hamburg', 'berlin', 'fr']]]], 'as']);
    expect(by('berlin', 'ArrowLeft')).toEqual([['eu', [['de', ['hamburg']], 'berlin', 'fr']], 'as']);
    expect(by('eu', 'ArrowUp')).toBeUndefined();
    expect(by('eu', 'ArrowLeft')).toBeUndefined();
    expect(by('eu', 'ArrowRight')).toBeUndefined();
    expect(by('as', 'ArrowDown')).toBeUndefined();
  });

  it('are reordered by dropping before, after and into terms, never into themselves', () => {
    const by = (value: string, key: string, zone: 'before' | 'inside' | 'after') => {
      const move = moveByDrop(all(tree), value, { key, zone });
      return move && mayMove(tree, move) ? shape(moved(tree, move)) : undefined;
    };
    expect(by('as', 'eu', 'before')).toEqual(['as', ['eu', [['de', ['hamburg', 'berlin']], 'fr']]]);
    expect(by('as', 'de', 'inside')).toEqual([['eu', [['de', ['hamburg', 'berlin', 'as']], 'fr']]]);
    expect(by('hamburg', 'berlin', 'after')).toEqual([['eu', [['de', ['berlin', 'hamburg']], 'fr']], 'as']);
    expect(by('hamburg', 'berlin', 'before')).toBeUndefined();
    expect(by('eu', 'hamburg', 'before')).toBeUndefined();
    expect(by('eu', 'de', 'inside')).toBeUndefined();
  });

  it('accept pasted lines with generated or given codes, nested by indentation', () => {
    expect(slugOf('  Crème brûlée & Co. ')).toBe('creme-brulee-co');
    expect(slugOf('日本')).toBe('日本');
    const flat = readPasted('Black and white | BW\r\n\n  Colour', { nests: false, below: null });
    expect(flat).toEqual({
      terms: [
        { value: 'bw', label: 'Black and white' },
        { value: 'colour', label: 'Colour' },
      ],
      problem: undefined,
    });
    const text = 'Europe\n  Germany\n\t\tHamburg\n  France\nAsia';
    const nested = readPasted(text, { nests: true, below: 'world' });
    const places = ['world/europe', 'europe/germany', 'germany/hamburg', 'europe/france', 'world/asia'];
    expect(nested.terms.map(({ value, parent }) => `${parent}/${value}`)).toEqual(places);
  });

  it('report the pasted line that is invalid', () => {
    const problem = (text: string) => readPasted(text, { nests: false, below: null }).problem;
    expect(problem('a\n!!')).toBe('Line 2 has no letter or digit to make a short name of.');
    expect(problem('Sea\nsea ')).toBe('Line 2: “sea” occurs twice.');
  });

  it('are sent in batches within the limit', () => {
    const terms = Array.from({ length: 12_001 }, (_, at) => ({ value: `t${at}`, label: `T${at}` }));
    expect(inParts(terms).map((part) => part.length)).toEqual([5000, 5000, 2001]);
    expect(readAliases(' Foto, PHOTO\nfoto,,')).toEqual(['foto', 'photo']);
  });
});

describe('trying a pattern', () => {
  it('matches the whole value, as the server does', async () => {
    expect(await tryPattern('a|b', 'a', 2000)).toBe('fits');
    expect(await tryPattern('a|b', 'ab', 2000)).toBe('does not fit');
    expect(await tryPattern('(', 'a', 2000)).toBe('no pattern');
  });

  it('refuses a pattern that is too slow for the longest value', async () => {
    const words = (options = {}) => longestValue('longtext', options);
    expect([words(), longestValue('text', {})]).toEqual([50_000, 2000]);
    expect(words({ max_length: 5000 })).toBe(5000);
    expect(await tryPattern('.*a.{195}', 'a', 5000)).toBe('does not fit');
    expect(await tryPattern('.*a.{195}', 'a', 5001)).toBe('takes too long');
    expect(await tryPattern('(a{900}){1}'.repeat(8), 'a', 1)).toBe('takes too long');
  });
});
