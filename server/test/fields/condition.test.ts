import { type FieldType, factsOf } from '@vitrine/contract/field-types';
import { describe, expect, test } from 'vitest';
import {
  type ControllerValue,
  evaluateCondition,
  readTerm,
} from '../../src/content/fields/definitions/condition.ts';

// FIELD-24, FIELD-25
test('a term is a code, an operator and a value, split at the first operator, longest first', () => {
  for (const [text, code, operator, value] of [
    ['kind=photo', 'kind', '=', 'photo'],
    ['  KIND  =  Photo  ', 'kind', '=', 'Photo'],
    ['a~b=c', 'a', '~', 'b=c'],
    ['a=>b', 'a', '=', '>b'],
    ['a<=5', 'a', '<=', '5'],
    ['a<5', 'a', '<', '5'],
  ])
    expect(readTerm(text ?? ''), text).toEqual({ code, operator, value });
  for (const text of ['', ' ', 'kind', '=', '=photo', ' =photo', 'kind=', 'kind= ', '~'])
    expect(readTerm(text), text).toBeNull();
});

// FIELD-25
test('the operators depend on the type of the field', () => {
  for (const type of ['text', 'longtext'] as const)
    expect(factsOf[type].conditions, type).toEqual(['=', '~']);
  for (const type of ['select', 'tree', 'multi_select'] as const)
    expect(factsOf[type].conditions, type).toEqual(['=']);
  for (const type of ['rich_text', 'boolean', 'number', 'date', 'datetime', 'reference'] as const)
    expect(factsOf[type].conditions, type).toEqual([]);
});

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

  // FIELD-27
  test('shows a field without terms or if all are true, and hides it if any is false', () => {
    expect(evaluateCondition(null, () => undefined)).toBe('shown');
    expect(verdict('kind=photo')).toBe('shown');
    expect(verdict('kind=photo', 'tags=sea', 'name~sun')).toBe('shown');
    expect(verdict('kind=film')).toBe('hidden');
    expect(verdict('kind=photo', 'tags=land')).toBe('hidden');
  });

  // FIELD-26, FIELD-27
  test.each([
    ['= compares exactly', 'kind=Photo', 'hidden'],
    ['= does not trim the value', 'name=Sunrise over Sea', 'hidden'],
    ['= on a multi_select tests membership', 'tags=sky', 'shown'],
    ['= on a multi_select does not match parts', 'tags=s', 'hidden'],
    ['~ matches a substring in any case', 'name~OVER SEA', 'shown'],
    ['~ is false without a match', 'name~moon', 'hidden'],
    ['a readable text without a value is false', 'empty~x', 'hidden'],
    ['a readable set without a value is false', 'many=x', 'hidden'],
  ])('%s: %s', (_, term, expected) => {
    expect(verdict(term)).toBe(expected);
  });

  // FIELD-27
  test('a term that cannot be evaluated leaves the whole condition undecided, even beside a false one', () => {
    for (const terms of [
      ['nothing=x'],
      ['nothing=x', 'kind=film'],
      ['kind=photo', 'nothing=x'],
      ['kind=film', 'size=5'],
      ['kind=film', 'garbage'],
    ])
      expect(verdict(...terms), String(terms)).toBe('no verdict');
  });
});
