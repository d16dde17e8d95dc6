import type { Operation } from '@vitrine/contract/operation';
import { type TSchema, Type } from 'typebox';
import { compileLater } from './compile-later.ts';
import { faultyInput } from './faulty-input.ts';
import { lowerCaseIds } from './lower-case-ids.ts';
import { refuse } from './refuse.ts';

/** Validates one part of a request; returns the value with the schema's types, or throws a 400 that names the error. */
export type Check = (value: unknown) => unknown;

/** The maximum nesting of a body; recursive code may rely on it. */
const DEEPEST = 64;

/**
 * Refuses values that could not be stored as sent: PostgreSQL stores no NUL in text, and JSON has no infinite numbers,
 * although it can write 1e400. Also refuses excessive nesting.
 */
export function checkContent(value: unknown, whole: string, depth = 0): void {
  if (depth > DEEPEST) throw refuse('nested-too-deeply', { part: whole });
  if (typeof value === 'string' && value.includes('\0')) throw refuse('nul-character', { part: whole });
  // An unpaired surrogate cannot be stored as sent.
  if (typeof value === 'string' && !value.isWellFormed()) throw refuse('unpaired-surrogate', { part: whole });
  if (typeof value === 'number' && !Number.isFinite(value))
    throw refuse('number-not-finite', { part: whole });
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    checkContent(key, whole, depth + 1);
    checkContent(inner, whole, depth + 1);
  }
}

/** Returns a check that converts a value with `read`, validates it, and writes its identifiers in lower case (HTTP-3). */
function checkOf(schema: TSchema, whole: string, read: Check): Check {
  const compiled = compileLater(schema);
  let inLowerCase: Check | undefined;
  return (given) => {
    checkContent(given, whole);
    const value = read(given);
    if (!compiled().Check(value)) throw faultyInput([...compiled().Errors(value)], whole);
    inLowerCase ??= lowerCaseIds(schema) ?? unchanged;
    return inLowerCase(value);
  };
}

const unchanged: Check = (value) => value;

/** Validates JSON: no value gets another type, unknown properties are refused (HTTP-11, HTTP-12). */
export function checkJson(schema: TSchema, whole: string): Check {
  return checkOf(schema, whole, unchanged);
}

/** Returns the JSON type of each property of an object schema; undefined for one with several types. */
function propertyTypes(schema: TSchema): Map<string, string | undefined> {
  const properties: unknown = 'properties' in schema ? schema.properties : {};
  const types = new Map<string, string | undefined>();
  for (const [name, property] of Object.entries(properties ?? {})) {
    types.set(name, typeof property?.type === 'string' ? property.type : undefined);
  }
  return types;
}

/**
 * Parses an int64 from the address (HTTP-4). A number that JSON cannot carry exactly is well-formed and matches
 * nothing, like the largest safe one.
 */
function readInteger(text: string): number | string {
  if (!/^-?\d{1,19}$/.test(text)) return text;
  const whole = BigInt(text);
  if (BigInt.asIntN(64, whole) !== whole) return text;
  return Math.min(Math.max(Number(whole), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** Converts text from the address to its property's type; text that does not parse stays text and fails validation. */
function readText(text: unknown, type: string | undefined): unknown {
  if (type === 'array') return typeof text === 'string' ? [text] : text;
  if (typeof text !== 'string') return text;
  if (type === 'integer') return readInteger(text);
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/**
 * Validates text from the address: parses numbers and booleans, wraps single values of lists, and drops unknown query
 * parameters (HTTP-14).
 */
function checkText(schema: TSchema, whole: string): Check {
  const types = propertyTypes(schema);
  return checkOf(schema, whole, (value) => {
    const given = Object.entries(typeof value === 'object' && value !== null ? value : {}).filter(([name]) =>
      types.has(name),
    );
    return Object.fromEntries(given.map(([name, text]) => [name, readText(text, types.get(name))]));
  });
}

export interface InputChecks {
  params: Check;
  query: Check;
  body: Check;
}

const nothing: Check = () => undefined;
/** HTTP-11: an operation without a body refuses properties too, which would otherwise be ignored. */
const noProperties = checkJson(Type.Object({}, { additionalProperties: false }), 'body');
const noBody: Check = (value) => {
  if (value != null) noProperties(value);
};

function bodyCheck({ body, raw, form, unreadForm }: Operation): Check {
  if (body !== undefined) return checkJson(body, 'body');
  return raw !== undefined || form !== undefined || unreadForm === true ? nothing : noBody;
}

/** The validators of an operation's input. */
export function inputChecks(operation: Operation): InputChecks {
  const body = bodyCheck(operation);
  return {
    params: operation.params === undefined ? nothing : checkText(operation.params, 'path'),
    query: operation.query === undefined ? nothing : checkText(operation.query, 'query'),
    body: operation.bodyOptional ? (value) => (value === undefined ? undefined : body(value)) : body,
  };
}
