import { describe, expect, test } from 'vitest';
import { readOptions } from '../../src/content/fields/definitions/options.ts';
import { readVocabulary } from '../../src/content/fields/vocabulary/document.ts';
import { MOST_TERMS } from '../../src/content/fields/vocabulary/terms.ts';

const refusal = (type: 'select' | 'multi_select' | 'tree', values: unknown) => {
  try {
    readVocabulary(type, values);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'accepted';
};
const slugs = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`);

/** Returns a tree of one branch with this depth. */
const branch = (levels: number): unknown =>
  levels === 1 ? ['l1'] : [{ value: `l${levels}`, children: branch(levels - 1) }];

describe('the vocabulary in options.values', () => {
  // TERM-1
  test('accepts a slug or an object; the default status is active, the default label is the slug', () => {
    const values = ['red', { value: 'blue', label: 'Blue', status: 'deprecated', aliases: [' Azure '] }];
    const usual = { replacedBy: null, parent: null, translations: {} };
    expect(readVocabulary('select', values)).toEqual([
      { ...usual, value: 'red', label: 'red', status: 'active', aliases: [], path: ['red'] },
      { ...usual, value: 'blue', label: 'Blue', status: 'deprecated', aliases: ['azure'], path: ['blue'] },
    ]);
    const longest = [{ value: 'dawn', label: '🌅'.repeat(200), aliases: ['🌄'.repeat(200)] }];
    expect(readVocabulary('select', longest)).toMatchObject(longest);
  });

  // TERM-5
  test('accepts children in a tree field only', () => {
    const values = [{ value: 'europe', children: [{ value: 'france', children: ['paris'] }] }];
    expect(readVocabulary('tree', values).map(({ parent, path }) => [parent, path])).toEqual([
      [null, ['europe']],
      ['europe', ['europe', 'france']],
      ['france', ['europe', 'france', 'paris']],
    ]);
    for (const type of ['select', 'multi_select'] as const)
      expect(refusal(type, values)).toContain('"europe" has children');
    expect(refusal('tree', branch(10))).toBe('accepted');
    expect(refusal('tree', branch(11))).toContain('below 10 levels');
  });

  // TERM-5
  test('requires unique slugs in the whole tree', () => {
    const deep = [{ value: 'a', children: [{ value: 'b', children: [{ value: 'c', children: ['d'] }] }] }];
    for (const value of ['a', 'b', 'c', 'd'])
      expect(refusal('tree', [...deep, value])).toBe(`options: the value "${value}" occurs twice`);
    expect(refusal('tree', [{ value: 'a', children: ['a'] }])).toContain('"a" occurs twice');
    expect(refusal('select', ['a', 'a'])).toContain('"a" occurs twice');
  });

  // TERM-3
  test('refuses an alias that equals a slug, label or alias, ignoring case and blanks', () => {
    const alias = (value: string, ...aliases: string[]) => ({ value, aliases });
    for (const [values, named] of [
      [['nyc', alias('new-york', ' NYC')], 'is the value of a term'],
      [[alias('new-york', 'New-York')], 'is the value of a term'],
      [[{ value: 'a', label: 'Big Apple' }, alias('b', 'big apple ')], 'is the label of "a"'],
      [[{ value: 'a', label: 'Apple', aliases: ['APPLE'] }], 'is the label of "a"'],
      [[alias('a', 'x'), alias('b', 'X')], 'is an alias of "a" too'],
      [[alias('a', 'x', 'X ')], 'has the alias "x" twice'],
    ] as const)
      expect(refusal('select', values)).toContain(named);
  });

  // TERM-4
  test('requires that a successor is another existing term, without cycles', () => {
    const gone = (value: string, replaced_by: string) => ({ value, status: 'archived', replaced_by });
    expect(refusal('select', [gone('a', 'b'), gone('b', 'c'), 'c'])).toBe('accepted');
    expect(refusal('select', [gone('a', 'a')])).toBe('options: "a" is replaced by itself');
    expect(refusal('select', [gone('a', 'x')])).toBe('options: "a" is replaced by "x", which is not a term');
    expect(refusal('select', [gone('a', 'b'), gone('b', 'c'), gone('c', 'a')])).toBe(
      'options: "a" is replaced by itself through a cycle: a > b > c > a',
    );
    // A term that only leads into the cycle is not part of it.
    expect(refusal('select', ['z', gone('y', 'a'), gone('a', 'b'), gone('b', 'a')])).toBe(
      'options: "a" is replaced by itself through a cycle: a > b > a',
    );
    const active = { value: 'a', replaced_by: 'b' };
    expect(refusal('select', [active, 'b'])).toContain('active and has a replaced_by');
  });

  test('refuses values that are not a list of terms, and names them', () => {
    for (const [values, named] of [
      [{}, 'values is not a list'],
      [[5], 'neither a slug nor an object'],
      [[{ label: 'x' }], 'has no value'],
      [['Red'], '"Red" is not a slug'],
      [['x'.repeat(101)], 'is not a slug'],
      [[{ value: 'a', label: ' ' }], 'the label of "a"'],
      [[{ value: 'a', status: 'gone' }], 'the status of "a"'],
      [[{ value: 'a', colour: 'red' }], '"a" has an unknown property colour'],
      [[{ value: 'a', aliases: 'b' }], 'the aliases of "a"'],
      [[{ value: 'a', aliases: [' '] }], 'an alias of "a"'],
      [[{ value: 'a', children: {} }], 'the children of "a"'],
    ] as const)
      expect(refusal('tree', values)).toContain(named);
  });

  // TERM-6
  test('accepts slugs in any script', () => {
    expect(refusal('select', ['東京', 'москва', 'münchen', 'a.b_c-1', '4k'])).toBe('accepted');
  });

  // TERM-6
  test('accepts 200,000 terms, and refuses one more', () => {
    const took = (count: number) => {
      const terms = slugs(count);
      const begun = process.threadCpuUsage();
      const read = readVocabulary('multi_select', terms);
      const { user, system } = process.threadCpuUsage(begun);
      expect(read).toHaveLength(count);
      return (user + system) / 1000;
    };
    // CPU time of this thread in milliseconds, which does not depend on other processes.
    // Ten times as many terms take about ten times as long, not a hundred times.
    expect(took(200_000)).toBeLessThan(1000 + 40 * took(20_000));
    expect(refusal('multi_select', slugs(MOST_TERMS + 1))).toBe('options: more than 200000 terms');
  });
});

describe('options beside the vocabulary', () => {
  // FIELD-37, FIELD-43
  test('refuse what their type does not allow', () => {
    for (const [type, options, named] of [
      ['text', { max_length: -1 }, 'max_length'],
      ['longtext', { min_length: 9, max_length: 5 }, 'min_length is above max_length'],
      ['text', { values: ['a'] }, 'type text has no values'],
      ['number', { min: '1' }, 'min is not a number'],
      ['number', { min: 3, max: 2 }, 'min is above max'],
      ['number', { step: 0 }, 'step is not above 0'],
      ['number', { integer: 1 }, 'integer is not true or false'],
      ['date', { min: 'yesterday' }, 'min is not a day'],
      ['datetime', { min: '2026-12-01', max: '2026-11-01T00:00:00Z' }, 'min is above max'],
      ['multi_select', { values: [], min_items: 2, max_items: 1 }, 'min_items is above max_items'],
      ['select', { truncated: true, values: [] }, 'truncated vocabularies'],
      ['text', { note: 'x'.repeat(20_001) }, 'more than 20000 characters'],
    ] as const)
      expect(() => readOptions(type, options), JSON.stringify([type, options])).toThrow(named);
  });

  // FIELD-37
  test('keeps keys that have no meaning for the type', () => {
    const options = { unit: 'mm', widget: { kind: 'slider' }, min_length: 'whatever', min: 1.5 };
    expect(readOptions('number', options)).toEqual({ rest: options, vocabulary: undefined });
  });
});
