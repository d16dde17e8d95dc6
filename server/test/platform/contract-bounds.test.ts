import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { beforeAll, describe, expect, test } from 'vitest';
import { inputChecks } from '../../src/platform/http/validate.ts';
import { databaseText } from '../support/database-text.ts';
import { openLibrary } from '../support/library.ts';
import {
  asObject,
  type Json,
  type JsonObject,
  numberOf,
  propertiesOf,
  sampleOf,
  samplesOf,
  schemaOf,
  uuidAt,
  variantsOf,
} from '../support/samples.ts';

/**
 * Generated from the contract: every operation refuses input just outside each bound of its schemas. Each bound is
 * tested on the operation's validators; one request for each part of the input proves that the service uses them. The
 * tests of a noun need not repeat it; they test the rules that a schema cannot express.
 */

type Outside = [bound: string, value: Json];

/** A value that is no text, except in an address. */
const NO_TEXT = 1.25;

/** Values just outside the bounds of a schema, each with the bound that it violates. */
function outsideOf(schema: JsonObject): Outside[] {
  const variants = variantsOf(schema);
  if (variants.length > 0)
    // A value of another type may match another variant.
    return variants.flatMap(outsideOf).filter(([bound]) => bound !== 'wrong type' || variants.length === 1);
  if (Array.isArray(schema.enum) || 'const' in schema)
    return [
      ['no such value', 'no such value'],
      ['wrong type', {}],
    ];
  const beyond = (bound: Json | undefined, name: string, valueAt: (bound: number) => Json): Outside[] => {
    const at = numberOf(bound);
    return at === undefined ? [] : [[name, valueAt(at)]];
  };
  switch (schema.type) {
    case 'string':
      return [
        ['wrong type', NO_TEXT],
        ['NUL', 'a\0b'],
        ['an unpaired surrogate', 'a\ud800b'],
        ...(schema.format === undefined ? [] : [['malformed', uuidAt(1).slice(1)] satisfies Outside]),
        ...beyond(schema.minLength, 'too short', (length) => 'x'.repeat(length - 1)),
        ...beyond(schema.maxLength, 'too long', (length) => 'x'.repeat(length + 1)),
      ];
    case 'integer':
    case 'number':
      return [
        ['wrong type', 'x'],
        ...(schema.type === 'integer' ? [['no integer', 1.5] satisfies Outside] : []),
        ...beyond(schema.minimum, 'too small', (least) => least - 1),
        ...beyond(schema.maximum, 'too large', (most) => most + 1),
      ];
    case 'boolean':
      return [['wrong type', 'yes']];
    case 'array':
      return [
        ['wrong type', {}],
        ...outsideOf(asObject(schema.items)).map(([bound, value]): Outside => [`item ${bound}`, [value]]),
        ...beyond(schema.minItems, 'too few', (fewest) => samplesOf(schema, fewest - 1)),
        ...beyond(schema.maxItems, 'too many', (most) => samplesOf(schema, most + 1)),
      ];
    case 'object': {
      const sample = asObject(sampleOf(schema));
      const required = Array.isArray(schema.required) ? schema.required : [];
      return [
        ['wrong type', []],
        ...(schema.additionalProperties === false
          ? [['unknown property', { ...sample, no_such_property: 1 }] satisfies Outside]
          : []),
        ...required.map((name): Outside => {
          const { [name]: _, ...rest } = sample;
          return [`without ${name}`, rest];
        }),
        ...outsideOfProperties(schema),
      ];
    }
    default:
      return [];
  }
}

function outsideOfProperties(schema: JsonObject): Outside[] {
  const sample = asObject(sampleOf(schema));
  return propertiesOf(schema).flatMap(([name, one]) =>
    outsideOf(one).map(([bound, value]): Outside => [`${name} ${bound}`, { ...sample, [name]: value }]),
  );
}

/** Whether the operation reads its body as JSON and nothing else. */
const readsJson = ({ method, raw, form, tus, unreadForm, postedForm }: Operation) =>
  method !== 'GET' &&
  raw === undefined &&
  form !== 'only' &&
  tus !== true &&
  unreadForm !== true &&
  postedForm === undefined;

interface BadInput {
  part: 'params' | 'query' | 'body';
  bound: string;
  value: Json;
}

/** Values outside a schema that text in an address can express. Integers past 2^53 are allowed there (HTTP-4). */
function outsideOfAddress(schema: JsonObject): Outside[] {
  const isAllowed = (value: Json) =>
    value === NO_TEXT || (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER);
  return outsideOfProperties(schema).filter(
    ([bound, value]) => !/item|too (few|many)/.test(bound) && !Object.values(asObject(value)).some(isAllowed),
  );
}

/** Returns input of each part of a request that the operation's contract does not allow. */
function badInputs(operation: Operation): BadInput[] {
  const { params, query, body, form } = operation;
  const inBody: Outside[] = body === undefined ? [['unknown property', { x: 1 }]] : outsideOf(schemaOf(body));
  const hasJson = readsJson(operation) && (body !== undefined || form === undefined);
  const as = (part: BadInput['part'], outside: Outside[]) =>
    outside.map(([bound, value]) => ({ part, bound, value }));
  return [
    ...as('params', outsideOfAddress(schemaOf(params))),
    ...as('query', outsideOfAddress(schemaOf(query))),
    ...as('body', hasJson ? inBody : []),
  ];
}

/** Returns the address of an operation with these parameters; a lone surrogate has no percent-encoding of its own. */
function addressOf({ path, params }: Operation, given: JsonObject = {}): string {
  const values = { ...asObject(sampleOf(schemaOf(params))), ...given };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

/** Returns the address and the body of a request with a bad part. */
function requestWith(operation: Operation, { part, value }: BadInput): { path: string; body?: Json } {
  const sample =
    operation.body !== undefined && readsJson(operation) ? sampleOf(schemaOf(operation.body)) : null;
  const body = part === 'body' ? value : sample;
  const path = addressOf(operation, part === 'params' ? asObject(value) : {});
  const query = Object.entries(part === 'query' ? asObject(value) : {}).map(([name, one]) => [
    name,
    String(one),
  ]);
  return { path: `${path}?${new URLSearchParams(query)}`, ...(body === null ? {} : { body }) };
}

const all: readonly Operation[] = Object.values(operations);
const byId = all.map((operation) => [operation.id, operation] as const);

const library = await openLibrary();
const root = await library.join('root', 'admin');

// HTTP-3, HTTP-4, HTTP-8, HTTP-11, HTTP-12, HTTP-13, HTTP-36
describe('refuses input just outside the bounds of the contract', () => {
  /** Everything in the database, without times, such as when a session was last used. */
  const stored = async () =>
    (await databaseText(library)).replace(/"?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+\d\d"?/g, '');
  let before: string;
  beforeAll(async () => {
    await root.ok('getMe');
    before = await stored();
  });

  test.each(byId)('%s', async (_, operation) => {
    const inputs = badInputs(operation);
    const checks = inputChecks(operation);
    for (const { part, bound, value } of inputs)
      expect(() => checks[part](value), `${part}: ${bound}`).toThrow(
        expect.objectContaining({ status: 400 }),
      );

    const { method, serves } = operation;
    // Bytes are looked up before the address is validated; content types other than JSON are refused before.
    const allowed = [
      400,
      ...(serves === undefined ? [] : [404]),
      ...(readsJson(operation) ? [] : [404, 415]),
    ];
    const parts = new Map(inputs.toReversed().map((input) => [input.part, input]));
    for (const input of parts.values()) {
      const { path, body } = requestWith(operation, input);
      const status = await root.status(method, path, body);
      expect({ ...input, status: allowed.includes(status) ? 400 : status }).toEqual({
        ...input,
        status: 400,
      });
    }
  });

  test('in several thousand values, and changes and records nothing', async () => {
    expect(all.flatMap(badInputs).length).toBeGreaterThan(3000);
    expect(await stored()).toBe(before);
  });
});

// HTTP-8
describe('refuses a cursor that no page ended with', () => {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  test.each(byId.filter(([, { query }]) => 'cursor' in asObject(schemaOf(query).properties)))(
    '%s',
    async (_, operation) => {
      const address = addressOf(operation);
      // The object that the address names may be looked up first.
      const allowed = operation.params === undefined ? [400] : [400, 404];
      const cursor = encode(`2024-02-31T00:00:00Z ${uuidAt(1)}`);
      expect(allowed).toContain(await root.status('GET', `${address}?q=x&cursor=${cursor}`));
    },
  );

  test.each([
    ['nothing', ''],
    ['two', 'a&cursor=b'],
    ['JSON', encode('{"at":"2026-01-01T00:00:00Z"}')],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x20, 0xff]).toString('base64url')],
    ['a time alone', encode('2026-01-01T00:00:00Z')],
    ['a year that is none', encode(`0000-01-01T00:00:00Z ${uuidAt(1)}`)],
    ['SQL', encode(`2026-01-01T00:00:00Z ${uuidAt(1)}' or true --`)],
    ['a newline at the end', encode(`2026-01-01T00:00:00Z ${uuidAt(1)}\n`)],
    ['a text without end', 'a'.repeat(5000)],
  ])('of %s', async (_, cursor) => {
    expect(await root.status('GET', `/posts?cursor=${cursor}`)).toBe(400);
  });
});
