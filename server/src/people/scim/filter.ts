import { type RawBuilder, sql } from 'kysely';
import { type Filter, parse } from 'scim2-parse-filter';
import { bareName } from './attributes.ts';
import { ScimFault, type ScimType } from './fault.ts';

const MOST_CHARACTERS = 2000;
const MOST_COMPARISONS = 50;

/** An attribute that filters may name. */
interface Filterable {
  column: RawBuilder<unknown>;
  kind: 'text' | 'boolean' | 'time';
  /** Brings a text into the form of the column; without it, the text is compared as it is. */
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
    // The parser takes each backslash for itself, so those that JSON doubles become one.
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
    throw invalid('a time must be compared with a time');
  return sql`(${column} ${operator} ${at.toISOString()}::timestamptz)`;
}

function comparison(
  { column, kind, keyOf = (text) => text }: Filterable,
  op: string,
  value: boolean | null | number | string,
): RawBuilder<boolean> {
  if (kind === 'time') return timeCondition(column, op, value);
  if (kind === 'text') {
    if (typeof value !== 'string' && value !== null)
      throw invalid('this attribute must be compared with a text');
    if (value?.includes('\0') || value?.isWellFormed() === false)
      throw invalid('the text has characters that are not allowed');
    return textCondition(column, op, value === null ? null : keyOf(value));
  }
  if (typeof value !== 'boolean' || (op !== 'eq' && op !== 'ne'))
    throw invalid('this attribute can only be compared with true or false');
  return sql`(${column} = ${op === 'eq' ? value : !value})`;
}

function conditionOf(filter: Filter, attributes: Filterables): RawBuilder<boolean> {
  if (filter.op === 'not') return sql`(not ${conditionOf(filter.filter, attributes)})`;
  if (filter.op === 'and' || filter.op === 'or') {
    const parts = filter.filters.map((inner) => conditionOf(inner, attributes));
    return sql`(${sql.join(parts, filter.op === 'and' ? sql` and ` : sql` or `)})`;
  }
  if (!('attrPath' in filter)) throw invalid('the expression cannot be used');
  const attribute = attributes.get(bareName(filter.attrPath));
  if (attribute === undefined) throw invalid(`${filter.attrPath} cannot be filtered by`);
  // An account has one e-mail, so conditions on the type of one are met by any.
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
