import type { FieldOptions, FieldType } from '@vitrine/contract/fields';

export interface Constraint {
  readonly name: string;
  readonly label: string;
  readonly input: 'number' | 'date' | 'datetime-local' | 'switch';
  readonly hint?: string;
}

const lengths: readonly Constraint[] = [
  { name: 'min_length', label: 'Shortest, in characters', input: 'number' },
  { name: 'max_length', label: 'Longest, in characters', input: 'number' },
];

const constraints: Readonly<Record<FieldType, readonly Constraint[]>> = {
  text: lengths,
  longtext: lengths,
  rich_text: lengths,
  number: [
    { name: 'min', label: 'Smallest', input: 'number' },
    { name: 'max', label: 'Largest', input: 'number' },
    { name: 'step', label: 'Step', input: 'number', hint: 'Values are whole multiples of it.' },
    {
      name: 'integer',
      label: 'Whole numbers only',
      input: 'switch',
      hint: 'Refuses values with a fraction.',
    },
  ],
  boolean: [],
  date: [
    { name: 'min', label: 'Earliest', input: 'date' },
    { name: 'max', label: 'Latest', input: 'date' },
  ],
  datetime: [
    { name: 'min', label: 'Earliest', input: 'datetime-local' },
    { name: 'max', label: 'Latest', input: 'datetime-local' },
  ],
  select: [],
  multi_select: [
    { name: 'min_items', label: 'At least this many', input: 'number' },
    { name: 'max_items', label: 'At most this many', input: 'number' },
  ],
  tree: [],
  reference: [],
};

/** Returns the constraints for values of a type. */
export function constraintsFor(type: FieldType): readonly Constraint[] {
  return constraints[type];
}

/** Each constraint as in its control; a switch that is on is `on`. */
export type ConstraintDraft = Record<string, string>;

function shown({ input }: Constraint, value: unknown): string {
  if (input === 'switch') return value === true ? 'on' : '';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  if (input === 'date') return value.slice(0, 10);
  if (input !== 'datetime-local') return value;
  const at = new Date(value.length === 10 ? `${value}T00:00:00Z` : value);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 16);
}

export function draftOfOptions(type: FieldType, options: FieldOptions): ConstraintDraft {
  return Object.fromEntries(constraints[type].map((one) => [one.name, shown(one, options[one.name])]));
}

function written({ input }: Constraint, text: string): unknown {
  if (input === 'switch') return text === 'on' ? true : undefined;
  if (text.trim() === '') return undefined;
  if (input === 'number') return Number(text);
  return input === 'date' ? text : `${text}:00Z`;
}

/**
 * Returns the options to send: the entered constraints and the existing free keys, without the vocabulary, which does
 * not change.
 */
export function optionsWith(type: FieldType, options: FieldOptions, draft: ConstraintDraft): FieldOptions {
  const { values: _, truncated: __, vocabulary_size: ___, ...kept } = options;
  for (const one of constraints[type]) {
    const value = written(one, draft[one.name] ?? '');
    if (value === undefined) delete kept[one.name];
    else kept[one.name] = value;
  }
  return kept;
}
