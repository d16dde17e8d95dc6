import type { FieldType } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../access/caller.ts';
import {
  appliesToAsset,
  disclosedReference,
  filterableFields,
  filterableSomewhere,
} from '../../../access/field-values.ts';
import { containsPattern } from '../../../platform/database/like.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { type ConditionTerm, readTerm } from '../definitions/condition.ts';
import { lowerCased, termKey } from '../vocabulary/terms.ts';
import { escapeHtml } from './rich-text.ts';
import { localTime } from './store.ts';
import { isDay, readDay, readInstant, startOfDay, startOfNextDay } from './typed-value.ts';

/** `filter=field:<code><op><value>` after parsing and before the field is looked up (VALUE-13). */
type FieldFilter = ConditionTerm;

/** The columns of a definition that a filter depends on. */
interface Filterable {
  id: string;
  code: string;
  type: FieldType;
  mirrors_column: 'title' | 'description' | null;
}

const PREFIX = 'field:';

/** Parses a filter; a malformed one is 400. Trims codes and values, and ignores the case of codes. */
function readFilter(text: string): FieldFilter {
  const term = text.startsWith(PREFIX) ? readTerm(text.slice(PREFIX.length)) : null;
  if (term === null) throw refuse(400, `filter ${quoted(text)} is not field:<code><op><value>`);
  return term;
}

function quoted(text: string): string {
  return `"${text.length > 100 ? `${text.slice(0, 100).toWellFormed()}...` : text}"`;
}

/** The same text for fields that do not exist, are archived, or that the caller may not read. */
function unknownField({ code }: FieldFilter): Error {
  return refuse(400, `filter: there is no field ${quoted(code)}`);
}

const ordered: readonly FieldFilter['operator'][] = ['=', '<', '>', '<=', '>='];
const operators: Record<FieldType, readonly FieldFilter['operator'][]> = {
  text: ['=', '~'],
  longtext: ['=', '~'],
  rich_text: ['~'],
  number: ordered,
  boolean: ['='],
  date: ordered,
  datetime: ordered,
  select: ['='],
  multi_select: ['='],
  tree: ['='],
  reference: ['='],
};

function comparison(operator: FieldFilter['operator']): RawBuilder<unknown> {
  switch (operator) {
    case '<':
      return sql`<`;
    case '>':
      return sql`>`;
    case '<=':
      return sql`<=`;
    case '>=':
      return sql`>=`;
    default:
      return sql`=`;
  }
}

function wrongValue({ code, value }: FieldFilter, what: string): Error {
  return refuse(400, `filter: ${quoted(value)} is not ${what}, which ${code} takes`);
}

function onNumber(filter: FieldFilter): RawBuilder<boolean> {
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i.test(filter.value);
  const number = Number(filter.value);
  if (!isNumber || !Number.isFinite(number)) throw wrongValue(filter, 'a number');
  return sql`v.value_num ${comparison(filter.operator)} ${number}::double precision`;
}

function onBoolean(filter: FieldFilter): RawBuilder<boolean> {
  const value = new Map([
    ['0', 0],
    ['1', 1],
    ['false', 0],
    ['true', 1],
  ]).get(filter.value.toLowerCase());
  if (value === undefined) throw wrongValue(filter, '0 or 1');
  return sql`v.value_num = ${value}::double precision`;
}

/**
 * A day covers all its instants, on the clock with which they were written (VALUE-26): `=` matches any of them, `>` those
 * after its end.
 */
function onInstant(filter: FieldFilter): RawBuilder<boolean> {
  const { operator, value } = filter;
  if (!isDay(value)) {
    const at = readInstant(value);
    if (at === null) throw wrongValue(filter, 'a day or an instant');
    return sql`v.value_date ${comparison(operator)} ${at}::timestamptz`;
  }
  const start = startOfDay(value);
  const end = startOfNextDay(value) ?? 'infinity';
  // The first condition of each pair can use the index.
  const until = (at: string) =>
    sql<boolean>`(v.value_date < ${at}::timestamptz + interval '1 day' and ${localTime} < ${at}::timestamptz)`;
  const since = (at: string) =>
    sql<boolean>`(v.value_date >= ${at}::timestamptz - interval '1 day' and ${localTime} >= ${at}::timestamptz)`;
  if (operator === '<') return until(start);
  if (operator === '>=') return since(start);
  if (operator === '<=') return until(end);
  if (operator === '>') return since(end);
  return sql`(${since(start)} and ${until(end)})`;
}

function onDay(filter: FieldFilter): RawBuilder<boolean> {
  const day = readDay(filter.value);
  if (day === null) throw wrongValue(filter, 'a day');
  return sql`v.value_date ${comparison(filter.operator)} ${startOfDay(day)}::timestamptz`;
}

function onReference(filter: FieldFilter, caller: Caller): RawBuilder<boolean> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(filter.value)) throw wrongValue(filter, 'an id');
  return sql`(v.value_ref = ${filter.value}::uuid and ${disclosedReference(caller, sql`v.value_ref`)})`;
}

/** Compares the whole text, but searches by its first 100 characters, because index entries must stay small. */
function onText({ operator, value }: FieldFilter): RawBuilder<boolean> {
  if (operator === '~') return sql`v.value_text ilike ${containsPattern(value)}`;
  return sql`(left(v.value_text, 100) = left(${value}, 100) and v.value_text = ${value})`;
}

/** How many words narrow the search through the index. */
const MOST_WORDS = 5;

/**
 * Matches the text without its markup: finds candidates through the index by the longest words, because tags may
 * separate the words, then compares the stripped text.
 */
function onRichText({ value }: FieldFilter): RawBuilder<boolean> {
  const words = [...new Set(value.split(/\s+/))].sort((a, b) => b.length - a.length).slice(0, MOST_WORDS);
  const indexed = words.map((word) => sql`v.value_text ilike ${containsPattern(escapeHtml(word))}`);
  return sql`(${sql.join(indexed, sql` and `)}
    and regexp_replace(v.value_text, '<[^>]*>', '', 'g') ilike ${containsPattern(escapeHtml(value))})`;
}

/** Terms by slug, label or alias. A tombstone also stands for its successor. */
function termsNamed(field: Filterable, text: string): RawBuilder<unknown> {
  const key = termKey(text);
  return sql`named (value) as (
      select t.value from field_terms t where t.field_id = ${field.id} and t.value in (${lowerCased(text)}, ${text})
      union select t.value from field_terms t where t.field_id = ${field.id}
        and t.label_key = ${key}
      union select l.value from field_term_aliases l where l.field_id = ${field.id} and l.key = ${key}
    ), followed (value) as (
      select value from named
      union select next.value from followed f cross join lateral (
        select t.replaced_by as value from field_terms t
        where t.field_id = ${field.id} and t.value = f.value and t.status = 'archived' and t.replaced_by is not null
        -- TERM-19: values that a job has not moved yet.
        union all select r.source from field_runs r
        where r.field_id = ${field.id} and r.target = f.value and r.finished_at is null) next
    )`;
}

/** Matches a term, and in a tree its descendants, because values are leaves (VALUE-16). */
function onTerms(field: Filterable, name: string): RawBuilder<boolean> {
  const reached =
    field.type === 'tree'
      ? sql`select t.value from field_terms t where t.field_id = ${field.id} and t.path && array(select value from followed)`
      : sql`select value from followed`;
  const slugs = sql`array(with recursive ${termsNamed(field, name)} ${reached})`;
  return field.type === 'multi_select'
    ? sql`v.value_options && ${slugs}`
    : sql`left(v.value_text, 100) = any(${slugs})`;
}

/** The condition of a filter on a value `v`. */
function onValue(caller: Caller, field: Filterable, filter: FieldFilter): RawBuilder<boolean> {
  switch (field.type) {
    case 'text':
    case 'longtext':
      return onText(filter);
    case 'rich_text':
      return onRichText(filter);
    case 'number':
      return onNumber(filter);
    case 'boolean':
      return onBoolean(filter);
    case 'date':
      return onDay(filter);
    case 'datetime':
      return onInstant(filter);
    case 'select':
    case 'multi_select':
    case 'tree':
      return onTerms(field, filter.value);
    case 'reference':
      return onReference(filter, caller);
  }
}

/** FIELD-22: compares the mirrored column itself. */
function onColumn({ mirrors_column }: Filterable, { operator, value }: FieldFilter): RawBuilder<boolean> {
  const column = sql.ref(mirrors_column === 'title' ? 'a.title' : 'a.description');
  return operator === '~' ? sql`${column} ilike ${containsPattern(value)}` : sql`${column} = ${value}`;
}

/**
 * Builds the filter's condition on `assets a`, which is true only for values that the caller may read. The statement
 * that uses it checks whether the caller may see the asset. 400 for an operator that the type does not support and
 * for a value outside the type.
 */
function filterCondition(caller: Caller, field: Filterable, filter: FieldFilter): RawBuilder<boolean> {
  const taken = operators[field.type];
  if (!taken.includes(filter.operator))
    throw refuse(400, `filter: ${field.code} takes ${taken.join(' ')}, not ${filter.operator}`);
  const readable = sql`exists (select from fields d
    where d.id = ${field.id} and ${filterableFields(caller, 'asset')} and ${appliesToAsset})`;
  if (field.mirrors_column !== null) return sql`(${onColumn(field, filter)} and ${readable})`;
  return sql`(exists (select from asset_field_values v
    where v.asset_id = a.id and v.field_id = ${field.id} and ${onValue(caller, field, filter)}) and ${readable})`;
}

/**
 * Builds the conditions of these filters on `assets a` (VALUE-13), with one statement for all fields and none without
 * filters. Fields that do not exist, are archived or are hidden from the caller get the same 400.
 */
export async function findFilters(
  db: Database,
  caller: Caller,
  texts: readonly string[],
): Promise<RawBuilder<boolean>[]> {
  if (texts.length === 0) return [];
  const filters = texts.map(readFilter);
  const { rows } = await sql<Filterable>`
    select d.id, d.code, d.type, d.mirrors_column from fields d
    where d.code = any(${filters.map(({ code }) => code)}::text[]) and ${filterableSomewhere(caller, 'asset')}`.execute(
    db,
  );
  const byCode = new Map(rows.map((field) => [field.code, field]));
  return filters.map((filter) => {
    const field = byCode.get(filter.code);
    if (field === undefined) throw unknownField(filter);
    return filterCondition(caller, field, filter);
  });
}
