import { type FilterOperator, factsOf } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { readFilter, writeFilter } from '#lib/fields/filter.ts';
import { viewOf } from '#lib/fields/types/registry.ts';

/** One comparison in the form; an empty value is ignored. */
export interface Condition {
  readonly operator: FilterOperator;
  readonly value: string;
}

export type Conditions = Readonly<Record<string, readonly Condition[]>>;

type ConditionField = Pick<FieldDefinition, 'code' | 'type'>;

/** Returns whether values of this type are ordered, so that a range can be searched. */
function isOrdered({ type }: Pick<ConditionField, 'type'>): boolean {
  return factsOf[type].filters.includes('>=');
}

function fresh(type: ConditionField['type'], second = false): Condition {
  const ordered = isOrdered({ type });
  const usual = viewOf[type].comparisons[0]?.value ?? '=';
  return { operator: ordered ? (second ? '<=' : '>=') : usual, value: '' };
}

/** Returns the filters that the form can show, and the others, which are kept. */
export function readConditions(
  filters: readonly string[],
  fields: readonly ConditionField[],
): { readonly conditions: Conditions; readonly others: readonly string[] } {
  const conditions: Record<string, Condition[]> = {};
  const others: string[] = [];
  for (const text of filters) {
    const filter = readFilter(text);
    const field = fields.find((candidate) => candidate.code === filter?.code);
    const shown = field === undefined ? [] : (conditions[field.code] ?? []);
    const takes = field !== undefined && filter !== undefined;
    const known = takes && factsOf[field.type].filters.includes(filter.operator);
    if (!takes || !known || shown.length >= (isOrdered(field) ? 2 : 1)) others.push(text);
    else conditions[field.code] = [...shown, { operator: filter.operator, value: filter.value }];
  }
  return { conditions, others };
}

/**
 * Returns the rows of a field in the form: one, and another for the other end of a range once the first is filled.
 */
export function rowsOf({ code, type }: ConditionField, conditions: Conditions): readonly Condition[] {
  const [first = fresh(type), second] = conditions[code] ?? [];
  if (!isOrdered({ type })) return [first];
  if (first.value.trim() === '' && second === undefined) return [first];
  return [first, second ?? fresh(type, true)];
}

/** Returns the conditions with one row of a field changed. */
export function withRow(
  conditions: Conditions,
  field: ConditionField,
  at: number,
  row: Condition,
): Conditions {
  const rows = rowsOf(field, conditions).map((kept, place) => (place === at ? row : kept));
  return { ...conditions, [field.code]: rows };
}

/** Returns the filters of the form, in the order of the fields. */
export function writeConditions(
  conditions: Conditions,
  fields: readonly ConditionField[],
  others: readonly string[],
): string[] {
  const written = fields.flatMap(({ code }) =>
    (conditions[code] ?? [])
      .filter(({ value }) => value.trim() !== '')
      .map((row) => writeFilter({ code, ...row })),
  );
  return [...new Set([...others, ...written])];
}
