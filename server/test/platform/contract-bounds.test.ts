import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary } from '../support/library.ts';

/**
 * Generated from the contract: every operation refuses input just outside each bound of its schemas. The tests of a
 * noun need not repeat it; they test the rules that a schema cannot express.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const asJson = (schema: TSchema | undefined): JsonObject =>
  schema === undefined ? {} : JSON.parse(JSON.stringify(schema));
const numberOf = (value: Json | undefined) => (typeof value === 'number' ? value : undefined);
const propertiesOf = ({ properties }: JsonObject) => Object.entries(isObject(properties) ? properties : {});
const variantsOf = ({ anyOf }: JsonObject): JsonObject[] =>
  Array.isArray(anyOf) ? anyOf.filter((one) => isObject(one) && one.type !== 'null') : [];

const uuid = (place: number) => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

/** Returns a value that the schema allows, different for different places. */
function sampleOf(schema: JsonObject, place = 1): Json {
  const [variant] = variantsOf(schema);
  if (variant !== undefined) return sampleOf(variant, place);
  if ('const' in schema) return schema.const ?? null;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'string':
      if (schema.format === 'uuid') return uuid(place);
      if (schema.format === 'date-time') return '2026-01-01T00:00:00Z';
      return `text${place}`.padEnd(numberOf(schema.minLength) ?? 0, 'x');
    case 'integer':
    case 'number':
      return numberOf(schema.minimum) ?? place;
    case 'boolean':
      return true;
    case 'array':
      return samplesOf(schema, Math.max(1, numberOf(schema.minItems) ?? 0));
    case 'object':
      return Object.fromEntries(propertiesOf(schema).map(([name, one]) => [name, sampleOf(asObject(one))]));
    default:
      return {};
  }
}

const asObject = (schema: Json): JsonObject => (isObject(schema) ? schema : {});
const samplesOf = ({ items }: JsonObject, count: number): Json[] =>
  Array.from({ length: count }, (_, index) => sampleOf(asObject(items ?? {}), index + 1));

/** Values just outside the bounds of a schema, each with the bound that it violates. */
function outsideOf(schema: JsonObject): [string, Json][] {
  const variants = variantsOf(schema);
  if (variants.length > 0) return variants.flatMap(outsideOf);
  if (Array.isArray(schema.enum) || 'const' in schema)
    return [
      ['no such value', 'no such value'],
      ['wrong type', {}],
    ];
  const [least, most] = [numberOf(schema.minimum), numberOf(schema.maximum)];
  const [shortest, longest] = [numberOf(schema.minLength), numberOf(schema.maxLength)];
  const [fewest, many] = [numberOf(schema.minItems), numberOf(schema.maxItems)];
  switch (schema.type) {
    case 'string':
      return [
        ['wrong type', 7],
        ['NUL', 'a\0b'],
        ['half a character', 'a\ud800b'],
        ...(schema.format === undefined ? [] : ([['malformed', uuid(1).slice(1)]] as [string, Json][])),
        ...(shortest === undefined ? [] : ([['too short', 'x'.repeat(shortest - 1)]] as [string, Json][])),
        ...(longest === undefined ? [] : ([['too long', 'x'.repeat(longest + 1)]] as [string, Json][])),
      ];
    case 'integer':
    case 'number':
      return [
        ['wrong type', 'x'],
        ...(schema.type === 'integer' ? ([['no integer', 1.5]] as [string, Json][]) : []),
        ...(least === undefined ? [] : ([['too small', least - 1]] as [string, Json][])),
        ...(most === undefined ? [] : ([['too large', most + 1]] as [string, Json][])),
      ];
    case 'boolean':
      return [['wrong type', 'true']];
    case 'array': {
      const inItems = outsideOf(asObject(schema.items ?? {}));
      return [
        ['wrong type', {}],
        ...inItems.map(([bound, value]): [string, Json] => [`item ${bound}`, [value]]),
        ...(fewest === undefined ? [] : ([['too few', samplesOf(schema, fewest - 1)]] as [string, Json][])),
        ...(many === undefined ? [] : ([['too many', samplesOf(schema, many + 1)]] as [string, Json][])),
      ];
    }
    case 'object': {
      const sample = asObject(sampleOf(schema));
      const required = Array.isArray(schema.required) ? schema.required : [];
      return [
        ['wrong type', []],
        ['unknown property', { ...sample, no_such_property: 1 }],
        ...required.map((name): [string, Json] => [
          `without ${name}`,
          Object.fromEntries(Object.entries(sample).filter(([key]) => key !== name)),
        ]),
        ...propertiesOf(schema).flatMap(([name, one]) =>
          outsideOf(asObject(one)).map(([bound, value]): [string, Json] => [
            `${name} ${bound}`,
            { ...sample, [name]: value },
          ]),
        ),
      ];
    }
    default:
      return [];
  }
}

interface Call {
  label: string;
  path: string;
  body?: Json;
}

const fill = (path: string, params: JsonObject) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? 'x')));

/** A lone surrogate has no percent-encoding of its own. */
const encoded = (value: Json) =>
  typeof value === 'string' && !value.isWellFormed() ? '%ED%A0%80' : encodeURIComponent(String(value));

/** Values outside a schema that text in an address can express. Integers past 2^53 are allowed there (HTTP-4). */
const outsideInAddress = (schema: Json) =>
  outsideOf(asObject(schema)).filter(
    ([bound, value]) =>
      !/wrong type|item|too (few|many)/.test(bound) &&
      value !== '' &&
      !(Number.isInteger(value) && !Number.isSafeInteger(value)),
  );

const readsJson = ({ raw, form, tus }: Operation) => raw === undefined && form !== 'only' && tus !== true;

/** Returns calls of an operation that its contract does not allow. */
function badCalls(operation: Operation): Call[] {
  const { method, path, params, query, body, form, unreadForm } = operation;
  const address = fill(path, asObject(sampleOf(asJson(params))));
  const sample = body === undefined || !readsJson(operation) ? {} : { body: sampleOf(asJson(body)) };
  const inPath = propertiesOf(asJson(params)).flatMap(([name, schema]) =>
    outsideInAddress(schema).map(([bound, value]) => ({
      label: `path: ${name} ${bound}`,
      path: path.replace(/\{(\w+)\}/g, (_, one: string) => (one === name ? encoded(value) : uuid(1))),
      ...sample,
    })),
  );
  const inQuery = propertiesOf(asJson(query)).flatMap(([name, schema]) =>
    outsideInAddress(schema)
      // The parser of queries replaces malformed bytes.
      .filter(([bound]) => bound !== 'half a character')
      .map(([bound, value]) => ({
        label: `query: ${name} ${bound}`,
        path: `${address}?${name}=${encoded(value)}`,
        ...sample,
      })),
  );
  if (method === 'GET' || !readsJson(operation)) return [...inPath, ...inQuery];
  const isIgnored = form !== undefined || unreadForm === true;
  if (body === undefined)
    return [
      ...inPath,
      ...inQuery,
      ...(isIgnored ? [] : [{ label: 'body: unknown property', path: address, body: { x: 1 } }]),
    ];
  const allowed = Compile(body);
  const inBody = outsideOf(asJson(body))
    .filter(([bound, value]) => /NUL|half/.test(bound) || !allowed.Check(value))
    .map(([bound, value]) => ({ label: `body: ${bound}`, path: address, body: value }));
  return [...inPath, ...inQuery, ...inBody];
}

let library: Library;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
});

const all: readonly Operation[] = Object.values(operations);

/** Bytes are looked up before the address is validated; content types other than JSON are refused before. */
const statusesOf = (operation: Operation) => [
  400,
  ...(operation.serves === undefined ? [] : [404]),
  ...(readsJson(operation) ? [] : [404, 415]),
];

// HTTP-3, HTTP-4, HTTP-8, HTTP-11, HTTP-12, HTTP-13, HTTP-36
describe('refuses input just outside the bounds of the contract', () => {
  test.each(all.map((operation) => [operation.id, operation] as const))('%s', async (_, operation) => {
    const { method } = operation;
    const outcomes = await Promise.all(
      badCalls(operation).map(async ({ label, path, body }) => {
        const { status } = await root.send(path, { method, ...(body === undefined ? {} : { body }) });
        return { label, status };
      }),
    );
    const allowed = statusesOf(operation);
    expect(outcomes.filter(({ status }) => !allowed.includes(status))).toEqual([]);
  });

  test('in several thousand requests', () => {
    expect(all.flatMap(badCalls).length).toBeGreaterThan(2000);
  });
});

// HTTP-8
describe('refuses a cursor that no page ended with', () => {
  const lists = all.filter(({ query }) => propertiesOf(asJson(query)).some(([name]) => name === 'cursor'));
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const cursors = [
    'x',
    '',
    'a&cursor=b',
    encode('garbage'),
    encode(`2024-02-31T00:00:00Z ${uuid(1)}`),
    encode(`0000-01-01T00:00:00Z ${uuid(1)}`),
    encode(`2026-01-01T00:00:00Z ${uuid(1)} more`),
    encode(`2026-01-01T00:00:00Z '; drop table users; --`),
  ];

  test.each(lists.map((operation) => [operation.id, operation] as const))('%s', async (_, operation) => {
    const address = fill(operation.path, asObject(sampleOf(asJson(operation.params))));
    // The object that the address names may be looked up first.
    const allowed = operation.params === undefined ? [400] : [400, 404];
    const answers = await Promise.all(
      cursors.map(async (cursor) => ({
        cursor,
        status: (await root.send(`${address}?q=x&cursor=${cursor}`)).status,
      })),
    );
    expect(answers.filter(({ status }) => !allowed.includes(status))).toEqual([]);
  });
});
