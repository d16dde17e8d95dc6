import type { FieldType } from '@vitrine/contract/fields';
import { describe, expect, test } from 'vitest';
import {
  type ControllerValue,
  evaluateCondition,
  operatorsOf,
  readTerm,
} from '../../src/fields/definitions/condition.ts';

// FIELD-25
describe('the grammar of a term of a display condition', () => {
  // FIELD-24, FIELD-25
  test.each([
    ['kind=photo', { code: 'kind', operator: '=', value: 'photo' }],
    ['  KIND  =  Photo  ', { code: 'kind', operator: '=', value: 'Photo' }],
    ['a~b', { code: 'a', operator: '~', value: 'b' }],
    // The split is on the first operator, matched longest first.
    ['a=b=c', { code: 'a', operator: '=', value: 'b=c' }],
    ['a~b=c', { code: 'a', operator: '~', value: 'b=c' }],
    ['a=>b', { code: 'a', operator: '=', value: '>b' }],
    ['a>=5', { code: 'a', operator: '>=', value: '5' }],
    ['a<=5', { code: 'a', operator: '<=', value: '5' }],
    ['a>5', { code: 'a', operator: '>', value: '5' }],
    ['a<5', { code: 'a', operator: '<', value: '5' }],
  ])('%j reads as %j', (text, term) => {
    expect(readTerm(text)).toEqual(term);
  });

  test.each(['', ' ', 'kind', '=', '=photo', ' =photo', 'kind=', 'kind= ', '~'])(
    '%j is not a term',
    (text) => {
      expect(readTerm(text)).toBeNull();
    },
  );

  test.each([
    ['text', ['=', '~']],
    ['longtext', ['=', '~']],
    ['select', ['=']],
    ['tree', ['=']],
    ['multi_select', ['=']],
    ['rich_text', []],
    ['boolean', []],
    ['number', []],
    ['date', []],
    ['datetime', []],
    ['reference', []],
  ] as const)('a field of type %s takes %j', (type, operators) => {
    expect(operatorsOf(type)).toEqual(operators);
  });
});

// FIELD-26, FIELD-27
describe('evaluating a display condition', () => {
  const values: Record<string, [FieldType, ControllerValue['value']]> = {
    kind: ['select', 'photo'],
    name: ['text', ' Sunrise over Sea'],
    tags: ['multi_select', ['sea', 'sky']],
    empty: ['text', null],
    many: ['multi_select', null],
    size: ['number', '5'],
  };
  const verdict = (...terms: string[]) =>
    evaluateCondition(terms, (code) => {
      const found = values[code];
      return found === undefined ? undefined : { type: found[0], value: found[1] };
    });

  test('a field without a condition is always shown', () => {
    expect(evaluateCondition(null, () => undefined)).toBe('shown');
  });

  // FIELD-27
  test('shows a field if all terms are true, and hides it if any is false', () => {
    expect(verdict('kind=photo')).toBe('shown');
    expect(verdict('kind=photo', 'tags=sea', 'name~sun')).toBe('shown');
    expect(verdict('kind=film')).toBe('hidden');
    expect(verdict('kind=photo', 'tags=land')).toBe('hidden');
  });

  // FIELD-26
  test('= compares exactly, without trimming or ignoring case', () => {
    expect(verdict('kind=Photo')).toBe('hidden');
    expect(verdict('name=Sunrise over Sea')).toBe('hidden');
    expect(verdict('name=sunrise over sea')).toBe('hidden');
  });

  // FIELD-26
  test('= on a multi_select tests membership, ~ matches a substring in any case', () => {
    expect([verdict('tags=sky'), verdict('tags=Sky'), verdict('tags=s')]).toEqual([
      'shown',
      'hidden',
      'hidden',
    ]);
    expect([verdict('name~OVER SEA'), verdict('name~moon')]).toEqual(['shown', 'hidden']);
  });

  // FIELD-27
  test('a term on a readable field without a value is false', () => {
    expect([verdict('empty=x'), verdict('empty~x'), verdict('many=x')]).toEqual([
      'hidden',
      'hidden',
      'hidden',
    ]);
  });

  // FIELD-27
  test('a term that cannot be evaluated leaves the whole condition undecided, even beside a false one', () => {
    for (const terms of [
      ['nothing=x'],
      ['kind=film', 'nothing=x'],
      ['nothing=x', 'kind=film'],
      ['kind=photo', 'nothing=x'],
      ['kind=film', 'size=5'],
      ['kind=film', 'kind~p'],
      ['kind=film', 'garbage'],
    ])
      expect(verdict(...terms), String(terms)).toBe('no verdict');
  });
});
