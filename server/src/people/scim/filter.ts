import { type RawBuilder, sql } from 'kysely';
import { type Filter, parse } from 'scim2-parse-filter';
import { bareName } from './attributes.ts';
import { ScimFault, type ScimType } from './fault.ts';

const MOST_CHARACTERS = 2000;
const MOST_COMPARISONS = 50;

/** An attribute that filters may name. */
export interface Filterable {
  column: RawBuilder<unknown>;
  /** `present`: every comparison is true if the column has a value. */
  kind: 'text' | 'boolean' | 'time' | 'present';
  /** Brings a string into the form of the column; without it, the string is compared as it is. */
  keyOf?: (text: string) => string | null;
}

/** The attributes of a resource that filters may name, by their names in lower case. */
export type Filterables = ReadonlyMap<string, Filterable>;

function invalid(detail: string): ScimFault {
  return new ScimFault(400, 'invalidFilter', detail);
}

/** Parses an expression of RFC 7644; throws the given fault for one that is malformed. */
export function parseExpression(text: string, fault: ScimType = 'invalidFilter'): Filter {
  if (text.length > MOST_CHARACTERS)
    throw new ScimFault(400, fault, `at most ${MOST_CHARACTERS} characters are allowed`);
  try {
    // The parser does not unescape backslashes, which JSON doubles.
    return parse(text.replace(/\\\\(?!")/g, '\\'));
  } catch {
    throw new ScimFault(400, fault, 'the expression cannot be read');
  }
}

function countOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, inner) => sum + countOf(inner), 0);
  if ('filter' in filter) return countOf(filter.filter);
  return 'valFilter' in filter ? countOf(filter.valFilter) : 1;
}

function textCondition(column: RawBuilder<unknown>, op: string, value: string | null): RawBuilder<boolean> {
  switch (op) {
    case 'eq':
      return sql`(${column} is not distinct from ${value}::text)`;
    case 'ne':
      return sql`(${column} is distinct from ${value}::text)`;
    case 'co':
      return sql`coalesce(position(${value}::text in ${column}) > 0, false)`;
    case 'sw':
      return sql`coalesce(starts_with(${column}, ${value}::text), false)`;
    case 'ew':
      return sql`coalesce(right(${column}, length(${value}::text)) = ${value}::text, false)`;
    default:
      throw invalid(`${op} cannot be used with this attribute`);
  }
}

const timeOperators = new Map([
  ['eq', sql`=`],
  ['ne', sql`<>`],
  ['gt', sql`>`],
  ['ge', sql`>=`],
  ['lt', sql`<`],
  ['le', sql`<=`],
]);

function timeCondition(column: RawBuilder<unknown>, op: string, value: unknown): RawBuilder<boolean> {
  const operator = timeOperators.get(op);
  const at = typeof value === 'string' ? new Date(value) : new Date(Number.NaN);
  if (operator === undefined || Number.isNaN(at.getTime()))
    throw invalid('this attribute can only be compared with a time');
  return sql`(${column} ${operator} ${at.toISOString()}::timestamptz)`;
}

function comparison(
  { column, kind, keyOf = (text) => text }: Filterable,
  op: string,
  value: boolean | null | number | string,
): RawBuilder<boolean> {
  if (kind === 'present') return sql`(${column} is not null)`;
  if (kind === 'time') return timeCondition(column, op, value);
  if (kind === 'text') {
    if (typeof value !== 'string' && value !== null)
      throw invalid('this attribute can only be compared with a string');
    if (value?.includes('\0') || value?.isWellFormed() === false)
      throw invalid('the string has characters that are not allowed');
    return textCondition(column, op, value === null ? null : keyOf(value));
  }
  if (typeof value !== 'boolean' || (op !== 'eq' && op !== 'ne'))
    throw invalid('this attribute can only be compared with true or false');
  return sql`(${column} = ${op === 'eq' ? value : !value})`;
}

/** `parent`: the attribute with the values that the filter is about, followed by a dot. */
function conditionOf(filter: Filter, attributes: Filterables, parent = ''): RawBuilder<boolean> {
  if (filter.op === 'not') return sql`(not ${conditionOf(filter.filter, attributes, parent)})`;
  if (filter.op === 'and' || filter.op === 'or') {
    const parts = filter.filters.map((inner) => conditionOf(inner, attributes, parent));
    return sql`(${sql.join(parts, filter.op === 'and' ? sql` and ` : sql` or `)})`;
  }
  if (!('attrPath' in filter)) throw invalid('the expression cannot be used');
  const name = `${parent}${bareName(filter.attrPath)}`;
  const attribute = attributes.get(name);
  if (attribute === undefined) throw invalid(`${filter.attrPath} cannot be filtered by`);
  if (filter.op === '[]') return conditionOf(filter.valFilter, attributes, `${name}.`);
  if (!('compValue' in filter)) return sql`(${attribute.column} is not null)`;
  return comparison(attribute, filter.op, filter.compValue);
}

/** Returns the condition of a filter on rows; throws `invalidFilter`. */
export function filterCondition(text: string, attributes: Filterables): RawBuilder<boolean> {
  const filter = parseExpression(text);
  if (countOf(filter) > MOST_COMPARISONS)
    throw invalid(`at most ${MOST_COMPARISONS} comparisons are allowed`);
  return conditionOf(filter, attributes);
}
