import type { Operation } from '@vitrine/contract/operation';
import {
  asObject,
  type Json,
  type JsonObject,
  numberOf,
  propertiesOf,
  type Random,
  schemaOf,
} from '../support/samples.ts';

/** Objects of the library that earlier responses named, so that requests refer to existing ones. */
export interface Found {
  /** Ids of any kind; only few are of the kind that an operation expects. */
  ids: string[];
  /** Refs of accounts, except those of the callers, because a disabled caller can send nothing useful. */
  refs: number[];
  texts: string[];
}

const MOST_FOUND = 200;

/** Collects the objects that a response names, or a random selection of many. */
export function harvest(found: Found, text: string, own: ReadonlySet<number>, random: Random): void {
  const add = <T>(list: T[], one: T) => {
    if (list.includes(one)) return;
    if (list.length < MOST_FOUND) list.push(one);
    else list[Math.floor(random() * MOST_FOUND)] = one;
  };
  for (const [id] of text.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g))
    add(found.ids, id);
  for (const [, ref] of text.matchAll(/"ref":(\d+)/g))
    if (!own.has(Number(ref))) add(found.refs, Number(ref));
  for (const [, word] of text.matchAll(/"(?:slug|code|key|username|value|name)":"([^"\\]{1,60})"/g))
    if (word !== undefined) add(found.texts, word);
}

/** Values that few schemas allow, and that no operation may fail on. */
const hostile: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  1e308,
  '',
  ' ',
  'a\u0000b',
  '\ud800',
  '\u202etxt.exe',
  "'; drop table users; --",
  '%_\\',
  'é'.repeat(3000),
  '🦉'.repeat(300),
  '9999-12-31T23:59:59Z',
  '0000-01-01T00:00:00Z',
  'infinity',
  [],
  {},
  ['a', null, {}],
  { constructor: { prototype: { admin: true } } },
];

const words = [
  'quay',
  'Ölpier',
  '東京',
  'a',
  'NOT',
  'tag:x',
  '-',
  '"open',
  '2024-02-29',
  '🦉',
  'x'.repeat(200),
];

function pick<T>(random: Random, from: readonly T[]): T | undefined {
  return from[Math.floor(random() * from.length)];
}

/** Returns a value that the schema probably allows, or in one case of `1 / spoil` a hostile one. */
function sampleOf(schema: JsonObject, found: Found, random: Random, spoil: number): Json {
  if (random() < 1 / spoil) return pick(random, hostile) ?? null;
  const again = (one: Json | undefined) => sampleOf(asObject(one), found, random, spoil);
  if (Array.isArray(schema.anyOf)) return again(pick(random, schema.anyOf));
  if ('const' in schema) return schema.const ?? null;
  if (Array.isArray(schema.enum)) return pick(random, schema.enum) ?? null;
  const number = (name: string, other: number) => numberOf(schema[name]) ?? other;
  switch (schema.type) {
    case 'string': {
      if (schema.format === 'uuid') return pick(random, found.ids) ?? crypto.randomUUID();
      if (schema.format === 'date-time')
        return new Date(Date.UTC(2026, 0, 1) + Math.floor((random() - 0.3) * 1e12)).toISOString();
      const text = random() < 0.4 ? pick(random, found.texts) : pick(random, words);
      const sized = (text ?? 'x').slice(0, number('maxLength', 300));
      return sized.padEnd(number('minLength', 0), 'x');
    }
    case 'integer':
    case 'number': {
      if (random() < 0.3 && found.refs.length > 0) return pick(random, found.refs) ?? 1;
      const least = number('minimum', -5);
      const value = least + random() * Math.min(number('maximum', least + 50) - least, 50);
      return schema.type === 'integer' ? Math.floor(value) : value;
    }
    case 'boolean':
      return random() < 0.5;
    case 'array': {
      const count = Math.max(number('minItems', 0), Math.floor(random() * 4));
      return Array.from({ length: Math.min(count, number('maxItems', 4)) }, () => again(schema.items));
    }
    case 'object': {
      const required = Array.isArray(schema.required) ? schema.required : [];
      return Object.fromEntries(
        propertiesOf(schema)
          .filter(([name]) => required.includes(name) || random() < 0.5)
          .map(([name, one]) => [name, again(one)]),
      );
    }
    case 'null':
      return null;
    default:
      return pick(random, words) ?? null;
  }
}

const textOfValue = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

export interface Request {
  method: string;
  /** The path below the base path. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Returns a request for the operation. Half of all requests have nothing hostile in them. */
export function requestFor(operation: Operation, found: Found, random: Random): Request {
  const spoil = random() < 0.5 ? Infinity : 8;
  const sample = (schema: object | undefined) => asObject(sampleOf(schemaOf(schema), found, random, spoil));
  const params = new Map(propertiesOf(schemaOf(operation.params)));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = textOfValue(sampleOf(params.get(name) ?? {}, found, random, spoil));
    return encodeURIComponent(text.toWellFormed());
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(operation.query === undefined ? {} : sample(operation.query)))
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, textOfValue(one));
  const address = query.size === 0 ? path : `${path}?${query}`;
  const request = { method: operation.method, path: address, headers: {} };
  if (operation.method === 'GET') return request;
  if (operation.raw !== undefined)
    return { ...request, headers: { 'content-type': 'image/png' }, body: 'no picture' };
  if (operation.body === undefined || (operation.bodyOptional === true && random() < 0.5)) return request;
  const body = JSON.stringify(sampleOf(schemaOf(operation.body), found, random, spoil));
  return { ...request, headers: { 'content-type': 'application/json' }, body };
}
