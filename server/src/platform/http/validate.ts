import type { Operation } from '@vitrine/contract/operation';
import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { refuse } from './refuse.ts';

/** Checks one part of a request; returns the value as its schema has it, or throws a 400 that names the fault. */
export type Check = (value: unknown) => unknown;

interface Fault {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

function nameOf(path: string, whole: string): string {
  return path === '' ? whole : path.slice(1).replaceAll('/', '.');
}

/** The first fault a person can act on, in words. */
function describe(faults: Fault[], whole: string): string {
  const unknown = faults.find((fault) => fault.keyword === 'boolean');
  if (unknown !== undefined) return `unknown property ${nameOf(unknown.instancePath, whole)}`;
  const fault = faults.find((one) => one.keyword !== 'anyOf') ?? faults[0];
  if (fault === undefined) return `malformed ${whole}`;
  return `${nameOf(fault.instancePath, whole)} ${fault.message}`;
}

/** Deeper nesting than any honest body has; whatever walks a value may rely on it. */
const DEEPEST = 64;

/**
 * What could not be kept as it was sent is refused at the door, wherever it stands: PostgreSQL stores no NUL in text,
 * and JSON has no infinite numbers, though it can write 1e400. So is nesting without end.
 */
function checkContent(value: unknown, whole: string, depth = 0): void {
  if (depth > DEEPEST) throw refuse(400, `${whole} is nested too deeply`);
  if (typeof value === 'string' && value.includes('\0'))
    throw refuse(400, `${whole} contains a NUL character`);
  // Half a surrogate pair cannot be stored as it was written.
  if (typeof value === 'string' && !value.isWellFormed())
    throw refuse(400, `${whole} contains half a character`);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw refuse(400, `${whole} contains a number that is too large`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    checkContent(key, whole, depth + 1);
    checkContent(inner, whole, depth + 1);
  }
}

/** A checker for JSON as it is: nothing is converted, unknown properties are refused (HTTP-11, HTTP-12). */
export function checkJson(schema: TSchema, whole: string): Check {
  const compiled = Compile(schema);
  return (value) => {
    checkContent(value, whole);
    if (!compiled.Check(value)) throw refuse(400, describe([...compiled.Errors(value)], whole));
    return value;
  };
}

/** The JSON type of each property of an object schema; undefined for one that may be of several. */
function propertyTypes(schema: TSchema): Map<string, string | undefined> {
  const properties: unknown = 'properties' in schema ? schema.properties : {};
  const types = new Map<string, string | undefined>();
  for (const [name, property] of Object.entries(properties ?? {})) {
    types.set(name, typeof property?.type === 'string' ? property.type : undefined);
  }
  return types;
}

/**
 * An int64 from the address (HTTP-4). One past what JSON carries exactly is well-formed and names nothing, like the
 * largest that it does.
 */
function readInteger(text: string): number | string {
  if (!/^-?\d{1,19}$/.test(text)) return text;
  const whole = BigInt(text);
  if (BigInt.asIntN(64, whole) !== whole) return text;
  return Math.min(Math.max(Number(whole), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** A text from the address as the type its property has; what does not read as one stays text and fails its check. */
function readText(text: unknown, type: string | undefined): unknown {
  if (type === 'array') return typeof text === 'string' ? [text] : text;
  if (typeof text !== 'string') return text;
  if (type === 'integer') return readInteger(text);
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/**
 * A checker for texts from the address: numbers and booleans are read, single values of lists are wrapped, and what
 * nobody asks for is left out (HTTP-14: unknown query parameters are ignored).
 */
export function checkText(schema: TSchema, whole: string): Check {
  const compiled = Compile(schema);
  const types = propertyTypes(schema);
  return (value) => {
    checkContent(value, whole);
    const given = Object.entries(typeof value === 'object' && value !== null ? value : {}).filter(([name]) =>
      types.has(name),
    );
    const read = Object.fromEntries(given.map(([name, text]) => [name, readText(text, types.get(name))]));
    if (!compiled.Check(read)) throw refuse(400, describe([...compiled.Errors(read)], whole));
    return read;
  };
}

export interface InputChecks {
  params: Check;
  query: Check;
  body: Check;
}

const nothing: Check = () => undefined;
/** For an operation without a body: properties are refused there too, where they would go unheard (HTTP-11). */
const noProperties = checkJson(Type.Object({}, { additionalProperties: false }), 'body');
const noBody: Check = (value) => {
  if (value != null) noProperties(value);
};

function bodyCheck({ body, raw, form, unreadForm }: Operation): Check {
  if (body !== undefined) return checkJson(body, 'body');
  return raw !== undefined || form !== undefined || unreadForm === true ? nothing : noBody;
}

/** The checkers of an operation's input. */
export function inputChecks(operation: Operation): InputChecks {
  const body = bodyCheck(operation);
  return {
    params: operation.params === undefined ? nothing : checkText(operation.params, 'path'),
    query: operation.query === undefined ? nothing : checkText(operation.query, 'query'),
    body: operation.bodyOptional ? (value) => (value === undefined ? undefined : body(value)) : body,
  };
}
