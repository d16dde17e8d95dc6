import { type Filter, filter as testerOf } from 'scim2-parse-filter';
import { attributesOf, listOf, withoutSchema } from './attributes.ts';
import { ScimFault } from './fault.ts';
import { parseExpression } from './filter.ts';

const MOST_OPERATIONS = 1000;

/** What a path of PATCH names: an attribute, perhaps some of its values, perhaps a part of each. In lower case. */
interface PatchPath {
  attribute: string;
  matches: ((value: object) => boolean) | null;
  /** The values that the condition compares with, by name: what a value that is added must have. */
  implied: ReadonlyMap<string, unknown>;
  sub: string | null;
}

export interface PatchOperation {
  op: 'add' | 'replace' | 'remove';
  path: PatchPath | null;
  value: unknown;
}

function foldText(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

/** Returns the condition with its texts in lower case. */
function folded(condition: Filter): Filter {
  if ('filters' in condition) return { ...condition, filters: condition.filters.map(folded) };
  if ('filter' in condition) return { ...condition, filter: folded(condition.filter) };
  if (!('compValue' in condition) || typeof condition.compValue !== 'string') return condition;
  return { ...condition, compValue: condition.compValue.toLowerCase() };
}

/**
 * Returns whether a value meets a condition, regardless of case: no attribute whose values have conditions is exact in case.
 * Values that the condition cannot compare do not meet it.
 */
function testOf(condition: Filter): (value: object) => boolean {
  const test = testerOf(folded(condition));
  return (value) => {
    try {
      return test(Object.fromEntries(Object.entries(value).map(([name, part]) => [name, foldText(part)])));
    } catch {
      return false;
    }
  };
}

function impliedBy(filter: Filter): Map<string, unknown> {
  if (filter.op === 'eq') return new Map([[filter.attrPath.toLowerCase(), filter.compValue]]);
  return filter.op === 'and' ? new Map(filter.filters.flatMap((inner) => [...impliedBy(inner)])) : new Map();
}

function invalidPath(text: string): ScimFault {
  return new ScimFault(400, 'invalidPath', `${text.slice(0, 200)} is not a path of this resource`);
}

/** Reads a path such as `members[value eq "7"]`; null for one of a schema that this library does not have. */
function parsePath(text: string): PatchPath | null {
  const bare = withoutSchema(text.trim());
  if (/^urn:/i.test(bare)) return null;
  const found = parseExpression(bare.endsWith(']') ? bare : `${bare} pr`, 'invalidPath');
  const [values, part] = found.op === 'and' ? found.filters : [found, undefined];
  if (values?.op === 'pr' && part === undefined) {
    const [attribute = '', sub = null, ...more] = values.attrPath.toLowerCase().split('.');
    if (more.length > 0) throw invalidPath(text);
    return { attribute, matches: null, implied: new Map(), sub };
  }
  if (values?.op !== '[]' || (part !== undefined && part.op !== 'pr')) throw invalidPath(text);
  return {
    attribute: values.attrPath.toLowerCase(),
    matches: testOf(values.valFilter),
    implied: impliedBy(values.valFilter),
    sub: part === undefined ? null : part.attrPath.slice(values.attrPath.length + 1).toLowerCase(),
  };
}

const verbs = ['add', 'replace', 'remove'] as const;

function operationOf(given: unknown): PatchOperation[] {
  const operation = attributesOf(given, 'an operation');
  const word = operation.get('op');
  const op = verbs.find((verb) => typeof word === 'string' && word.toLowerCase() === verb);
  if (op === undefined) throw new ScimFault(400, 'invalidSyntax', 'op must be add, replace or remove');
  const value = operation.get('value');
  const path = operation.get('path');
  if (typeof path === 'string' && path !== '') {
    const parsed = parsePath(path);
    return parsed === null ? [] : [{ op, path: parsed, value }];
  }
  if (path !== undefined && path !== null && path !== '')
    throw new ScimFault(400, 'invalidPath', 'path must be a string');
  if (op === 'remove') throw new ScimFault(400, 'noTarget', 'remove needs a path');
  // Without a path, the value has attributes, which Entra ID names by paths such as `name.givenName`. Okta sends the
  // id with the new name of a group; as in PUT, what cannot be changed is ignored.
  return [...attributesOf(value, 'value')].flatMap(([name, inner]) =>
    /^(urn:|(schemas|id|meta|groups)$)/.test(name) ? [] : [{ op, path: parsePath(name), value: inner }],
  );
}

/** Reads the operations of a PATCH (RFC 7644, 3.5.2). */
export function operationsOf(body: unknown): PatchOperation[] {
  const operations = attributesOf(body, 'the body').get('operations');
  if (!Array.isArray(operations) || operations.length === 0)
    throw new ScimFault(400, 'invalidSyntax', 'Operations must be a list of operations');
  if (operations.length > MOST_OPERATIONS)
    throw new ScimFault(413, 'tooMany', `at most ${MOST_OPERATIONS} operations are allowed`);
  return operations.flatMap(operationOf);
}

/** Returns an object with its names in lower case. */
function lowered(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(attributesOf(value, 'a value')) : { value };
}

/** Returns a key that is the same for two values of which one replaces the other, as in RFC 7644, 3.5.2.1. */
function keyOfValue({ value, type }: Record<string, unknown>): string {
  return JSON.stringify([foldText(value), foldText(type)]);
}

/** Changes the values of an attribute with several, which have their names in lower case. */
export function patchValues(
  values: readonly Record<string, unknown>[],
  { op, path, value }: PatchOperation,
): Record<string, unknown>[] {
  const matches = path?.matches ?? null;
  const sub = path?.sub ?? null;
  if (matches === null && sub === null) {
    const given = listOf(value).map(lowered);
    if (op === 'replace') return given;
    if (op === 'add') {
      const added = new Set(given.map(keyOfValue));
      return [...values.filter((one) => !added.has(keyOfValue(one))), ...given];
    }
    // Entra ID names the values to remove in `value`; without any, all are removed.
    const named = new Set(given.map((one) => one.value));
    return value === undefined || value === null ? [] : values.filter((one) => !named.has(one.value));
  }
  const isMeant = (one: Record<string, unknown>) => matches === null || matches(one);
  if (op === 'remove') {
    if (sub === null) return values.filter((one) => !isMeant(one));
    const without = (one: Record<string, unknown>) => Object.entries(one).filter(([name]) => name !== sub);
    return values.map((one) => (isMeant(one) ? Object.fromEntries(without(one)) : one));
  }
  const change = sub === null ? lowered(value) : { [sub]: value };
  if (values.some(isMeant)) return values.map((one) => (isMeant(one) ? { ...one, ...change } : one));
  return [...values, { ...Object.fromEntries(path?.implied ?? []), ...change }];
}
