import { describe, expect, test } from 'vitest';
import { definitionOf, type ErrorCode, errorCodes, errorText } from '../src/errors/codes.ts';
import { formatErrorHeader, parseErrorHeader } from '../src/errors/header.ts';
import { statusMeaning } from '../src/errors.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

// HTTP-43
describe('error codes', () => {
  test('are hyphenated words in lower case, which are tokens of RFC 9651', () => {
    expect(codes.filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))).toEqual([]);
  });

  test('have a status that the interface explains', () => {
    expect(codes.filter((code) => !(definitionOf(code).status in statusMeaning))).toEqual([]);
  });

  test('of one area have names of their own', async () => {
    const areas = ['frame', 'input', 'people', 'content', 'fields', 'exchange', 'operate', 'rejections'];
    const modules = await Promise.all(areas.map((area) => import(`../src/errors/${area}.ts`)));
    const all = modules.flatMap((exported: Record<string, object>) =>
      Object.values(exported).flatMap((definitions) => Object.keys(definitions)),
    );
    expect(all.sort()).toEqual([...codes].sort());
  });

  test('have a text whose parameters are keys of RFC 9651', () => {
    const names = codes.flatMap((code) => definitionOf(code).text.match(/\{[^}]*\}/g) ?? []);
    expect(names.filter((name) => !/^\{[a-z]+\}$/.test(name))).toEqual([]);
  });

  test('become text with their parameters', () => {
    const { text } = definitionOf('value-missing');
    expect(errorText(text, { object: 'body', missing: ['title', 'members'] })).toBe(
      'body must have required properties title, members',
    );
  });
});

// HTTP-43
describe('Vitrine-Error', () => {
  test.each([
    ['not-found', {}, 'not-found'],
    ['value-too-long', { property: 'title', max: 500 }, 'value-too-long;property="title";max=500'],
    ['value-below-minimum', { property: 'f', limit: 0.125 }, 'value-below-minimum;property="f";limit=0.125'],
    ['value-below-minimum', { limit: 0.12345 }, 'value-below-minimum;limit="0.12345"'],
    ['value-below-minimum', { limit: 1e20 }, 'value-below-minimum;limit="100000000000000000000"'],
    ['term-repeated', { term: 'say "ü"\n' }, 'term-repeated;term=%"say %22%c3%bc%22 "'],
    ['term-repeated', { term: 'a "b" \\' }, 'term-repeated;term="a \\"b\\" \\\\"'],
    ['fields-required', { missing: ['mood', 'place'] }, 'fields-required;missing="mood place"'],
  ])('writes %s with %j', (code, params, header) => {
    expect(formatErrorHeader(code, params)).toBe(header);
  });

  test('returns what was written, except control characters, unpaired surrogates and the end of long values', () => {
    const params = { max: 500, min: -0.5, term: 'Möwe %', property: 'title' };
    expect(parseErrorHeader(formatErrorHeader('value-invalid', params))).toEqual({
      code: 'value-invalid',
      params,
    });
    const hostile = formatErrorHeader('value-invalid', {
      term: `\r\nSet-Cookie: a=b\u0000\ud800${'𝔞'.repeat(300)}`,
    });
    expect(hostile).toMatch(/^[ -~]*$/);
    expect(parseErrorHeader(hostile)?.params.term).toBe(`  Set-Cookie: a=b \ufffd${'𝔞'.repeat(181)}`);
    const words = Array.from({ length: 50 }, (_, index) => `field${index}`);
    const kept = parseErrorHeader(formatErrorHeader('fields-required', { missing: words }))?.params.missing;
    expect(`${words.join(' ')} `.startsWith(`${kept} `)).toBe(true);
  });

  test.each([null, '', '"text"', '12', 'a b', '=', 'not-found;='])('that is %j is ignored', (header) => {
    expect(parseErrorHeader(header)).toBeNull();
  });
});
