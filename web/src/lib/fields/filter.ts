import type { FieldDefinition, FieldType } from '@vitrine/contract/fields';

export type FilterOperator = '=' | '~' | '<' | '>' | '<=' | '>=';

/** A parsed filter `field:<code><op><value>` (VALUE-13). */
export interface FieldFilter {
  readonly code: string;
  readonly operator: FilterOperator;
  readonly value: string;
}

const prefix = 'field:';
/** Longest first. */
const operators: readonly FilterOperator[] = ['>=', '<=', '=', '~', '<', '>'];

/** Parses a filter; undefined if it is invalid. */
export function readFilter(text: string): FieldFilter | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const term = text.slice(prefix.length);
  const at = term.search(/[=~<>]/);
  const operator = operators.find((one) => term.startsWith(one, at));
  if (at === -1 || operator === undefined) return undefined;
  const code = term.slice(0, at).trim().toLowerCase();
  const value = term.slice(at + operator.length).trim();
  return code === '' || value === '' ? undefined : { code, operator, value };
}

export function writeFilter({ code, operator, value }: FieldFilter): string {
  return `${prefix}${code}${operator}${value.trim()}`;
}

interface OperatorWord {
  readonly value: FilterOperator;
  readonly label: string;
}

const ordered = (words: Readonly<Record<'<' | '>' | '<=' | '>=', string>>): readonly OperatorWord[] => [
  { value: '=', label: 'is' },
  { value: '>=', label: words['>='] },
  { value: '<=', label: words['<='] },
  { value: '>', label: words['>'] },
  { value: '<', label: words['<'] },
];
const sizes = ordered({ '>=': 'at least', '<=': 'at most', '>': 'more than', '<': 'less than' });
const times = ordered({ '>=': 'from', '<=': 'up to', '>': 'after', '<': 'before' });
const contains: OperatorWord = { value: '~', label: 'contains' };
const is: OperatorWord = { value: '=', label: 'is' };

/** Returns the comparisons for values of a type with their labels, the most common first. */
export const operatorsOf: Readonly<Record<FieldType, readonly OperatorWord[]>> = {
  text: [contains, is],
  longtext: [contains, is],
  rich_text: [contains],
  number: sizes,
  boolean: [is],
  date: times,
  datetime: times,
  select: [is],
  multi_select: [{ value: '=', label: 'has' }],
  tree: [{ value: '=', label: 'is or is below' }],
  reference: [is],
};

/** Formats a filter for display: "Place contains quay". */
export function filterInWords(
  { code, operator, value }: FieldFilter,
  field: Pick<FieldDefinition, 'label' | 'type'> | undefined,
  valueInWords: (value: string) => string,
): string {
  if (field === undefined) return `${code} ${operator} ${value}`;
  const word = operatorsOf[field.type].find((one) => one.value === operator)?.label ?? operator;
  return `${field.label} ${word} ${valueInWords(value)}`;
}
