import type { FieldType } from '@vitrine/contract/field-types';
import type { FieldOptions } from '@vitrine/contract/fields';
import type { Constraint } from '#lib/fields/types/field-type.ts';
import { viewOf } from '#lib/fields/types/registry.ts';

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
  return Object.fromEntries(
    viewOf[type].constraints.map((constraint) => [
      constraint.name,
      shown(constraint, options[constraint.name]),
    ]),
  );
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
  for (const constraint of viewOf[type].constraints) {
    const value = written(constraint, draft[constraint.name] ?? '');
    if (value === undefined) delete kept[constraint.name];
    else kept[constraint.name] = value;
  }
  return kept;
}
