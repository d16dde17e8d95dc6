import { factsOf } from '@vitrine/contract/field-types';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../../access/caller.ts';
import { appliesToAsset, filterableFields, filterableSomewhere } from '../../../access/field-values.ts';
import { containsPattern } from '../../../platform/database/like.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { readTerm } from '../definitions/condition.ts';
import { type FieldFilter, type Filterable, shortened } from '../types/filtering.ts';
import { rulesOf } from '../types/registry.ts';

const PREFIX = 'field:';

/** Parses a filter; a malformed one is 400. Trims codes and values, and ignores the case of codes. */
function readFilter(text: string): FieldFilter {
  const term = text.startsWith(PREFIX) ? readTerm(text.slice(PREFIX.length)) : null;
  if (term === null) throw refuse('filter-malformed', { filter: shortened(text) });
  return term;
}

/** The same text for fields that do not exist, are archived, or that the caller may not read. */
function unknownField({ code }: FieldFilter): Error {
  return refuse('filter-field-not-found', { field: shortened(code) });
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
  const taken = factsOf[field.type].filters;
  if (!taken.includes(filter.operator))
    throw refuse('filter-operator-not-for-type', {
      field: field.code,
      allowed: taken.join(' '),
      operator: filter.operator,
    });
  const readable = sql`exists (select from fields d
    where d.id = ${field.id} and ${filterableFields(caller, 'asset')} and ${appliesToAsset})`;
  if (field.mirrors_column !== null) return sql`(${onColumn(field, filter)} and ${readable})`;
  return sql`(exists (select from asset_field_values v
    where v.asset_id = a.id and v.field_id = ${field.id} and ${rulesOf[field.type].filter(filter, field, caller)}) and ${readable})`;
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
