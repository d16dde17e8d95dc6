import { describe, expect, test } from 'vitest';
import { canonicalJson, NotCanonical } from '../../../src/exchange/federation/protocol/canonical.ts';

function double(hex: string): number {
  return Buffer.from(hex, 'hex').readDoubleBE();
}

describe('canonical JSON', () => {
  // From RFC 8785, appendix B.
  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['44b52d02c7e14af6', '1e+23'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555555', '333333333.3333333'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('prints the double %s as %s', (hex, printed) => {
    expect(canonicalJson(double(hex))).toBe(printed);
  });

  // RFC 8785, section 3.2.2 and 3.2.3.
  test('reproduces the example of the RFC', () => {
    const input = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
    expect(canonicalJson(JSON.parse(input))).toBe(expected);
  });

  // RFC 8785, section 3.2.3.
  test('sorts names by UTF-16 code units', () => {
    const input = String.raw`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`;
    const names = canonicalJson(JSON.parse(input)).match(/"[^"]*"(?=:")/g);
    expect(names).toEqual(['"\\r"', '"1"', '"\u0080"', '"ö"', '"€"', '"😀"', '"\ufb33"']);
  });

  // RFC 8785, section 3.2.2.2.
  test('escapes as little as possible', () => {
    const expected = `${String.raw`"\b\t\n\f\r\"\\\u0000\u001f`}\u007f\u2028/é"`;
    expect(canonicalJson('\b\t\n\f\r"\\\u0000\u001f\u007f\u2028/é')).toBe(expected);
  });

  test('omits members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: { c: undefined } })).toBe('{"a":{}}');
  });

  test('refuses what JSON cannot express', () => {
    const values = [Number.NaN, 1 / 0, '\ud800', { '\udc00': 1 }, [undefined], 1n, () => 1];
    for (const value of values) expect(() => canonicalJson(value)).toThrow(NotCanonical);
  });
});
