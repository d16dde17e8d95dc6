import { type ConditionOperator, factsOf } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { isTrue, readTerm, type Term } from '#lib/fields/condition.ts';
import type { Draft } from '#lib/fields/types/field-type.ts';

/** A term that the condition editor can show. */
export interface ConditionTerm extends Term {
  readonly operator: ConditionOperator;
}

export const operatorWords: Readonly<Record<ConditionOperator, string>> = { '=': 'is', '~': 'contains' };

/** Returns the terms of a condition that this page can show. */
export function readCondition(condition: readonly string[] | null): ConditionTerm[] {
  return (condition ?? []).flatMap((text): ConditionTerm[] => {
    const term = readTerm(text);
    if (term?.operator === '=' || term?.operator === '~') return [{ ...term, operator: term.operator }];
    return [];
  });
}

export function writeTerm({ code, operator, value }: ConditionTerm): string {
  return `${code}${operator}${value.trim()}`;
}

type Controller = Pick<FieldDefinition, 'id' | 'code' | 'type' | 'subject_kind' | 'status'>;

/** Returns the fields that can control whether `owner` is shown. The service detects cycles. */
export function controllersFor<F extends Controller>(fields: readonly F[], owner: Controller): F[] {
  return fields.filter(
    (field) =>
      field.id !== owner.id &&
      field.subject_kind === owner.subject_kind &&
      field.status !== 'archived' &&
      factsOf[field.type].conditions.length > 0,
  );
}

/**
 * Returns whether all terms are true for the entered values, by code; terms about fields without a value are false.
 */
export function holdsFor(terms: readonly ConditionTerm[], values: Readonly<Record<string, Draft>>): boolean {
  return terms.every((term) => isTrue(term, values[term.code] ?? ''));
}
