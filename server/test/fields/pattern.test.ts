import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../src/fields/pattern.ts';

describe('spec 2.7 rule 9: the pattern of a value', () => {
  test.each([
    ['a|b', ['a', 'b'], ['ab', 'xa', 'bx', '']],
    ['[A-Z]{2}-\\d{3}', ['AB-123'], ['AB-1234', ' AB-123', 'AB-123\n', 'ab-123']],
    ['(?i)yes|no', ['YES', 'No'], ['yesno']],
    [' a ', [' a '], ['a']],
    ['a.c', ['abc', 'a😀c'], ['a\nc']],
    ['\\p{L}+', ['Äpfel', '東京'], ['a b']],
    ['a{0,3}', ['', 'aaa'], ['aaaa']],
  ])('%j matches the whole value or nothing', (pattern, fitting, others) => {
    const { matches } = compilePattern(pattern);
    for (const value of fitting) expect(matches(value), value).toBe(true);
    for (const value of others) expect(matches(value), value).toBe(false);
  });

  test.each(['[^a]+', '\\^', '\\$5', '[$^]', '\\Q^$\\E', '[]^]', '[[:alpha:]^]+', 'a\\Q$'])(
    '%j has no anchor',
    (pattern) => {
      expect(() => compilePattern(pattern)).not.toThrow();
    },
  );

  test.each(['^a', 'a$', 'a|^b', '(a$)|b', '[a]^', '\\\\$'])('%j is anchored, and refused', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow('must not be written');
  });

  test.each(['(a+)+', '(a|a)*', '(.*a){20}', '(x+x+)+y', '([a-z]+)*\\d'])(
    '%j, catastrophic elsewhere, takes linear time here',
    (pattern) => {
      const { matches } = compilePattern(pattern);
      const begun = performance.now();
      expect(matches(`${'ax'.repeat(10_000)}!`)).toBe(false);
      expect(performance.now() - begun).toBeLessThan(1000);
    },
  );

  test('one that repeats without end is refused', () => {
    expect(() => compilePattern('(a{900}){1}'.repeat(8))).toThrow('repeats too much');
  });
});
