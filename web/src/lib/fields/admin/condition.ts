import type { FieldDefinition, FieldType } from '@vitrine/contract/fields';

export type Operator = '=' | '~';

/** One term of a display condition, taken apart (spec 2.7 rule 11). */
export interface ConditionTerm {
  readonly code: string;
  readonly operator: Operator;
  readonly value: string;
}

export const operatorWords: Readonly<Record<Operator, string>> = { '=': 'is', '~': 'contains' };

/** Which comparisons a field of this type takes part in. */
export function operatorsOf(type: FieldType): readonly Operator[] {
  if (type === 'text' || type === 'longtext') return ['=', '~'];
  return type === 'select' || type === 'tree' || type === 'multi_select' ? ['='] : [];
}

/** The parts of a term; undefined for one that this page cannot show. */
export function readTerm(text: string): ConditionTerm | undefined {
  const at = text.search(/[=~<>]/);
  const operator = text[at];
  if (operator !== '=' && operator !== '~') return undefined;
  const code = text.slice(0, at).trim().toLowerCase();
  const value = text.slice(at + 1).trim();
  return code === '' || value === '' ? undefined : { code, operator, value };
}

export function writeTerm({ code, operator, value }: ConditionTerm): string {
  return `${code}${operator}${value.trim()}`;
}

/** The terms of a condition that this page can show. */
export function readCondition(condition: readonly string[] | null): ConditionTerm[] {
  return (condition ?? []).flatMap((text) => readTerm(text) ?? []);
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
export function holdsFor(
  terms: readonly ConditionTerm[],
  values: Readonly<Record<string, string | readonly string[]>>,
): boolean {
  return terms.every(({ code, operator, value }) => {
    const stored = values[code] ?? '';
    if (typeof stored !== 'string') return stored.includes(value);
    return operator === '~' ? stored.toLowerCase().includes(value.toLowerCase()) : stored === value;
  });
}
