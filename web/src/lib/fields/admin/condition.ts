import type { FieldDefinition } from '@vitrine/contract/fields';
import { isTrue, type Operator, operatorsOf, readTerm, type Term } from '#lib/fields/condition.ts';
import type { Draft } from '#lib/fields/draft.ts';

/** A term that the editor of conditions can show. */
export interface ConditionTerm extends Term {
  readonly operator: Operator;
}

export const operatorWords: Readonly<Record<Operator, string>> = { '=': 'is', '~': 'contains' };

/** The terms of a condition that this page can show. */
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

/** Fields that can decide whether `owner` is shown. Whether they would lead round in a circle is the service's to say. */
export function controllersFor<F extends Controller>(fields: readonly F[], owner: Controller): F[] {
  return fields.filter(
    (field) =>
      field.id !== owner.id &&
      field.subject_kind === owner.subject_kind &&
      field.status !== 'archived' &&
      operatorsOf(field.type).length > 0,
  );
}

/** Whether all terms hold for what was typed or chosen, by code; a field without a value makes its terms false. */
export function holdsFor(terms: readonly ConditionTerm[], values: Readonly<Record<string, Draft>>): boolean {
  return terms.every((term) => isTrue(term, values[term.code] ?? ''));
}
