import type { Operation } from '@vitrine/contract/operation';
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

/** PostgreSQL stores no NUL in text, so it is refused at the door, wherever it stands. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (Array.isArray(value)) return value.some(holdsNul);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => key.includes('\0') || holdsNul(inner));
}

/** A checker for JSON as it is: nothing is converted, unknown properties are refused (choices, general). */
export function checkJson(schema: TSchema, whole: string): Check {
  const compiled = Compile(schema);
  return (value) => {
    if (holdsNul(value)) throw refuse(400, `${whole} contains a NUL character`);
    if (!compiled.Check(value)) throw refuse(400, describe([...compiled.Errors(value)], whole));
    return value;
  };
}

function isArraySchema(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'array';
}

/** Names in the schema that may be repeated in a query. */
function repeatable(schema: TSchema): string[] {
  const properties: unknown = 'properties' in schema ? schema.properties : {};
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties)
    .filter(([, property]) => isArraySchema(property))
    .map(([name]) => name);
}

/** A checker for texts from the address: numbers and booleans are read, single values of lists are wrapped. */
export function checkText(schema: TSchema, whole: string): Check {
  const compiled = Compile(schema);
  const lists = repeatable(schema);
  return (value) => {
    if (holdsNul(value)) throw refuse(400, `${whole} contains a NUL character`);
    const given: Record<string, unknown> = { ...(typeof value === 'object' ? value : {}) };
    for (const name of lists) {
      if (typeof given[name] === 'string') given[name] = [given[name]];
    }
    const converted = compiled.Convert(given);
    if (!compiled.Check(converted)) throw refuse(400, describe([...compiled.Errors(converted)], whole));
    return converted;
  };
}

export interface InputChecks {
  params: Check;
  query: Check;
  body: Check;
}

const nothing: Check = () => undefined;

/** The checkers of an operation's input. */
export function inputChecks(operation: Operation): InputChecks {
  const body = operation.body === undefined ? nothing : checkJson(operation.body, 'body');
  return {
    params: operation.params === undefined ? nothing : checkText(operation.params, 'path'),
    query: operation.query === undefined ? nothing : checkText(operation.query, 'query'),
    body: operation.bodyOptional ? (value) => (value === undefined ? undefined : body(value)) : body,
  };
}
