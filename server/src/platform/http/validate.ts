import type { Operation } from '@vitrine/contract/operation';
import { closed } from '@vitrine/contract/values';
import type { TSchema } from 'typebox';
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

/** PostgreSQL stores no NUL in text, so it is refused at the door, wherever it stands; so is nesting without end. */
function checkContent(value: unknown, whole: string, depth = 0): void {
  if (depth > DEEPEST) throw refuse(400, `${whole} is nested too deeply`);
  if (typeof value === 'string' && value.includes('\0'))
    throw refuse(400, `${whole} contains a NUL character`);
  // Half a surrogate pair cannot be stored as it was written.
  if (typeof value === 'string' && !value.isWellFormed())
    throw refuse(400, `${whole} contains half a character`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    checkContent(key, whole, depth + 1);
    checkContent(inner, whole, depth + 1);
  }
}

/** A checker for JSON as it is: nothing is converted, unknown properties are refused (choices, general). */
export function checkJson(schema: TSchema, whole: string): Check {
  const compiled = Compile(schema);
  return (value) => {
    checkContent(value, whole);
    if (!compiled.Check(value)) throw refuse(400, describe([...compiled.Errors(value)], whole));
    return value;
  };
}

/** The JSON type of each property of an object schema, `ref` for the number of an account; undefined for several. */
function propertyTypes(schema: TSchema): Map<string, string | undefined> {
  const properties: unknown = 'properties' in schema ? schema.properties : {};
  const types = new Map<string, string | undefined>();
  for (const [name, property] of Object.entries(properties ?? {})) {
    const type = property?.format === 'int64' ? 'ref' : property?.type;
    types.set(name, typeof type === 'string' ? type : undefined);
  }
  return types;
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** A well-formed ref that no account has. */
const NOBODY = Number.MAX_SAFE_INTEGER;

/** spec 2.1: refs are int64. One that none of ours can be is nobody's, not malformed: what is asked of it is not there. */
function readRef(text: string): number | string {
  if (!/^-?\d{1,19}$/.test(text) || BigInt(text) < INT64_MIN || BigInt(text) > INT64_MAX) return text;
  const ref = Number(text);
  return ref >= 1 && ref <= NOBODY ? ref : NOBODY;
}

/** A text from the address as the type its property has; what does not read as one stays text and fails its check. */
function readText(text: unknown, type: string | undefined): unknown {
  if (type === 'array') return typeof text === 'string' ? [text] : text;
  if (typeof text !== 'string') return text;
  if (type === 'ref') return readRef(text);
  if (type === 'integer') return /^-?\d{1,16}$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/**
 * A checker for texts from the address: numbers and booleans are read, single values of lists are wrapped, and what
 * nobody asks for is left out (choices, general: unknown query parameters are ignored).
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
const emptyObject = checkJson(closed({}), 'body');
const noBody: Check = (value) => (value === undefined ? undefined : emptyObject(value));

/** Whether the body is no JSON, or the address of a read is all there is to it: then nobody looks at it here. */
function isUnread({ method, raw, urlencoded }: Operation): boolean {
  return method === 'GET' || raw !== undefined || urlencoded === true;
}

/** The checkers of an operation's input. */
export function inputChecks(operation: Operation): InputChecks {
  // choices, general: unknown properties are refused, where there are no known ones, too.
  const without = isUnread(operation) ? nothing : noBody;
  const body = operation.body === undefined ? without : checkJson(operation.body, 'body');
  return {
    params: operation.params === undefined ? nothing : checkText(operation.params, 'path'),
    query: operation.query === undefined ? nothing : checkText(operation.query, 'query'),
    body: operation.bodyOptional ? (value) => (value === undefined ? undefined : body(value)) : body,
  };
}
