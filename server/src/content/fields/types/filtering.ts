import type { FieldType } from '@vitrine/contract/field-types';
import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../../../platform/http/refuse.ts';
import type { Sentence } from '../../../platform/language/sentence.ts';
import type { ConditionTerm } from '../definitions/condition.ts';

/** `filter=field:<code><op><value>` after parsing (VALUE-13). */
export type FieldFilter = ConditionTerm;

/** The columns of a definition that a filter depends on. */
export interface Filterable {
  id: string;
  code: string;
  type: FieldType;
  mirrors_column: 'title' | 'description' | null;
}

/** Shortens a part of a filter for an error. */
export function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}...` : text;
}

/** The 400 for a value that the type of the field does not have. */
export function wrongValue({ code, value }: FieldFilter, expected: Sentence): Error {
  return refuse('filter-value-invalid', { field: code, value: shortened(value), expected });
}

/** The operator of SQL for a comparison of values in order. */
export function comparison(operator: FieldFilter['operator']): RawBuilder<unknown> {
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
