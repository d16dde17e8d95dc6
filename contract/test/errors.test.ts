import { describe, expect, test } from 'vitest';
import { CallError } from '../src/client.ts';
import { definitionOf, type ErrorCode, errorCodes, errorText } from '../src/errors/codes.ts';
import { formatErrorHeader, parseErrorHeader } from '../src/errors/header.ts';
import { frameCodes } from '../src/errors/of-operation.ts';
import { statusMeaning } from '../src/errors.ts';
import { openApiDocument } from '../src/openapi.ts';
import type { Operation } from '../src/operation.ts';
import { operations } from '../src/operations.ts';

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

// HTTP-43
test('a failed call has the code and the parameters of its response, and null without them', () => {
  const refused = new CallError(
    400,
    'text',
    new Headers({ 'Vitrine-Error': 'value-too-long;property="title";max=5' }),
  );
  expect(refused).toMatchObject({ code: 'value-too-long', params: { property: 'title', max: 5 } });
  expect(new CallError(0, 'the connection was lost')).toMatchObject({ code: null, params: null });
});

// HTTP-44
describe('the codes of an operation', () => {
  const all: readonly Operation[] = Object.values(operations);

  test('are sorted into those of its access and input, and those that it declares', () => {
    const repeated = all.flatMap((operation) => {
      const frame = frameCodes(operation);
      return operation.errors.filter((code) => frame.has(code)).map((code) => `${operation.id}: ${code}`);
    });
    expect(repeated).toEqual([]);
    expect(all.filter(({ errors }) => new Set(errors).size !== errors.length).map(({ id }) => id)).toEqual(
      [],
    );
  });

  test('are all used by an operation, a path outside the interface, or the protocol between libraries', () => {
    const declared = new Set(all.flatMap((operation) => [...frameCodes(operation), ...operation.errors]));
    const elsewhere = codes.filter((code) => !declared.has(code) && !code.startsWith('rejected-'));
    expect(elsewhere.sort()).toEqual([
      'activity-malformed',
      'activity-not-processed',
      'method-not-allowed',
      'metrics-token-required',
      'not-ready',
      'oembed-format-unsupported',
      'oembed-size-invalid',
      'oembed-url-missing',
      'resent-recently',
      'shutting-down',
      'signature-insufficient',
      'sitemap-part-unknown',
    ]);
  });

  test('are in the OpenAPI document, with their statuses and texts', () => {
    const read = JSON.parse(JSON.stringify(openApiDocument('0.0.0')));
    expect(Object.keys(read['x-error-codes']).sort()).toEqual([...codes].sort());
    expect(read['x-error-codes']['not-found']).toEqual({ status: 404, text: 'not found' });
    const { description, 'x-error-codes': own } = read.paths['/auth/login'].post;
    expect(own['401']).toContain('wrong-credentials');
    expect(description).toContain('`wrong-credentials`');
    expect(read.components.responses.Unauthorized.description).toContain('`sign-in-required`');
  });
});
