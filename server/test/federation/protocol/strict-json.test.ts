import { expect, test } from 'vitest';
import { Rejection } from '../../../src/federation/protocol/rejection.ts';
import { parseStrict } from '../../../src/federation/protocol/strict-json.ts';

function outcomeOf(text: string | Buffer): string {
  try {
    parseStrict(Buffer.from(text));
  } catch (error) {
    if (error instanceof Rejection) return error.reason;
    throw error;
  }
  return 'accepted';
}

test('parses ordinary JSON unchanged', () => {
  const text = String.raw` {"a": [1, -2.5, 1e3, 0.1, true, false, null], "b": {"a": "x\n\ud83d\ude00", "": "{\"a\":1,\"a\":2}"}} `;
  const others = [
    '"x"',
    '1',
    'null',
    '[]',
    '{}',
    '[{"a":1},{"a":1}]',
    '{"a":{"a":1}}',
    '{"a":[{"b":1}],"b":1}',
  ];
  for (const value of [text, ...others]) expect(parseStrict(Buffer.from(value))).toEqual(JSON.parse(value));
});

test('refuses an object with a repeated name, however it is spelled', () => {
  for (const text of [
    '{"a":1,"a":1}',
    String.raw`{"a":1,"b":2,"\u0061":3}`,
    '{"x":{"a":[{"b":1},{"c":1,"c":2}]}}',
    '{"a":{"b":1},"a":{"b":1}}',
    '[[],{"a":[],"b":{},"a":1}]',
    '{"a":"a","a":"b"}',
  ]) {
    expect(outcomeOf(text), text).toBe('malformed');
  }
});

test('refuses numbers that are not read exactly', () => {
  const numbers = [
    '9007199254740992',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1e16',
    '123456789012345678901234567890',
  ];
  for (const number of numbers) expect(outcomeOf(`{"a":[${number}]}`), number).toBe('malformed');
  expect(outcomeOf('[9007199254740991, 1e15, 0.30000000000000004]')).toBe('accepted');
});

test('refuses halves of surrogate pairs, NUL and what is not UTF-8', () => {
  const texts = [
    String.raw`"\ud800"`,
    String.raw`"\udc00x"`,
    String.raw`{"\ud83d":1}`,
    String.raw`"a\u0000b"`,
  ];
  for (const text of texts) expect(outcomeOf(text), text).toBe('malformed');
  expect(outcomeOf(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBe('malformed');
  expect(outcomeOf('\ufeff{}')).toBe('malformed');
  expect(outcomeOf(Buffer.from('{}', 'utf16le'))).toBe('malformed');
});

test('refuses what is not JSON', () => {
  for (const text of ['', '{', '{"a":1,}', "{'a':1}", '{a:1}', '[1 2]', 'NaN', '01', '// x\n{}', '{} {}']) {
    expect(outcomeOf(text), text).toBe('malformed');
  }
});

test('refuses nesting deeper than 32', () => {
  expect(outcomeOf('['.repeat(32) + ']'.repeat(32))).toBe('accepted');
  expect(outcomeOf('['.repeat(33) + ']'.repeat(33))).toBe('malformed');
  expect(outcomeOf(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)).toBe('malformed');
  expect(outcomeOf('['.repeat(500_000) + ']'.repeat(500_000))).toBe('malformed');
});

test('refuses more than a megabyte', () => {
  expect(outcomeOf(JSON.stringify('x'.repeat(1024 ** 2 - 2)))).toBe('accepted');
  expect(outcomeOf(JSON.stringify('x'.repeat(1024 ** 2 - 1)))).toBe('too_large');
});

test('keeps a property named __proto__ apart from the prototype', () => {
  const value = parseStrict(Buffer.from('{"__proto__":{"x":1}}'));
  expect(Reflect.get(Object(value), 'x')).toBeUndefined();
});
