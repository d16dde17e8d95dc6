import type { FilterOperator } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { readTerm } from './condition.ts';
import { viewOf } from './types/registry.ts';

/** A parsed filter `field:<code><op><value>` (VALUE-13). */
export interface FieldFilter {
  readonly code: string;
  readonly operator: FilterOperator;
  readonly value: string;
}

const prefix = 'field:';

/** Parses a filter; undefined if it is invalid. */
export function readFilter(text: string): FieldFilter | undefined {
  return text.startsWith(prefix) ? readTerm(text.slice(prefix.length)) : undefined;
}

export function writeFilter({ code, operator, value }: FieldFilter): string {
  return `${prefix}${code}${operator}${value.trim()}`;
}

/** Formats a filter for display: "Place contains quay". */
export function filterInWords(
  { code, operator, value }: FieldFilter,
  field: Pick<FieldDefinition, 'label' | 'type'> | undefined,
  valueInWords: (value: string) => string,
): string {
  if (field === undefined) return `${code} ${operator} ${value}`;
  const { comparisons } = viewOf[field.type];
  const word = comparisons.find((comparison) => comparison.value === operator)?.label ?? operator;
  return `${field.label} ${word} ${valueInWords(value)}`;
}
