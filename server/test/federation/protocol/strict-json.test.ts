import { expect, test } from 'vitest';
import { parseStrict } from '../../../src/exchange/federation/protocol/strict-json.ts';
import { reasonOf } from './reason.ts';

const outcomeOf = (text: string | Buffer) => reasonOf(() => parseStrict(Buffer.from(text)));

test('parses ordinary JSON unchanged', () => {
  const text = String.raw` {"a": [1, -2.5, 1e3, 0.1, true, false, null], "b": {"a": "x\n\ud83d\ude00", "": "{\"a\":1,\"a\":2}"}} `;
  const nested = ['[{"a":1},{"a":1}]', '{"a":{"a":1}}', '{"a":[{"b":1}],"b":1}'];
  for (const value of [text, '"x"', '1', 'null', '[]', '{}', ...nested])
    expect(parseStrict(Buffer.from(value))).toEqual(JSON.parse(value));
});

const utf16 = Buffer.from('{}', 'utf16le');
test.each<[string, readonly (string | Buffer)[]]>([
  [
    'an object with a repeated name, however it is spelled',
    [
      '{"a":1,"a":1}',
      String.raw`{"a":1,"b":2,"\u0061":3}`,
      '{"x":{"a":[{"b":1},{"c":1,"c":2}]}}',
      '{"a":{"b":1},"a":{"b":1}}',
      '[[],{"a":[],"b":{},"a":1}]',
    ],
  ],
  ['numbers that are not read exactly', ['9007199254740992', '-9007199254740993', '1e400', '-1e400', '1e16']],
  [
    'halves of surrogate pairs and NUL',
    [String.raw`"\ud800"`, String.raw`"\udc00x"`, String.raw`{"\ud83d":1}`, String.raw`"a\u0000b"`],
  ],
  ['what is not UTF-8', [Buffer.from([0x22, 0xc3, 0x28, 0x22]), '\ufeff{}', utf16]],
  ['what is not JSON', ['', '{', '{"a":1,}', "{'a':1}", '{a:1}', '[1 2]', 'NaN', '01', '// x\n{}', '{} {}']],
])('refuses %s', (_, texts) => {
  for (const text of texts) expect([text, outcomeOf(text)]).toEqual([text, 'malformed']);
});

test('accepts the largest and smallest numbers that are read exactly', () => {
  expect(outcomeOf('[9007199254740991, 1e15, 0.30000000000000004]')).toBe('accepted');
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
