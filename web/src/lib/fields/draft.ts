import type { FieldValue, ValueMembers } from '@vitrine/contract/field-values';
import type { FieldType } from '@vitrine/contract/fields';

/** The value of a field in a form: several terms, or one text whose meaning depends on the type. */
export type Draft = string | readonly string[];

export function emptyDraft(type: FieldType): Draft {
  return type === 'multi_select' ? [] : '';
}

function isEmpty(draft: Draft): boolean {
  return draft.length === 0;
}

export function isSameDraft(one: Draft, other: Draft): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.length === other.length && one.every((term, at) => term === other[at]);
}

/** Returns the clock time of a value for a date and time input, the same for every reader. */
function clockOf(timestamp: string): string {
  return timestamp.slice(0, 19);
}

type Members = Pick<FieldValue, 'value_text' | 'value_num' | 'value_date' | 'value_options' | 'value_ref'>;

/** Returns the form of a stored value; empty without one. */
export function draftOf(type: FieldType, value: Members | undefined): Draft {
  if (value === undefined) return emptyDraft(type);
  const { value_text, value_num, value_date, value_options, value_ref } = value;
  if (type === 'multi_select') return value_options ?? [];
  if (value_date !== undefined) return type === 'date' ? value_date.slice(0, 10) : clockOf(value_date);
  if (value_num !== undefined) return String(value_num);
  return value_text ?? value_ref ?? '';
}

/** The request for a draft: a value, no value, or an error if the draft is not valid for the type. */
export type Sent =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly members: ValueMembers }
  | { readonly kind: 'problem'; readonly text: string };

function problem(text: string): Sent {
  return { kind: 'problem', text };
}

/** Parses a typed number; a single comma is a decimal point. */
function readNumber(text: string): number | undefined {
  const plain = text.trim().replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return undefined;
  const number = Number(plain);
  return Number.isFinite(number) ? number : undefined;
}

/** Returns the request that gives a field the value of its draft. Text is sent as typed (FIELD-21). */
export function sentOf(type: FieldType, draft: Draft): Sent {
  if (isEmpty(draft)) return { kind: 'none' };
  if (typeof draft !== 'string') return { kind: 'value', members: { value_options: [...draft] } };
  switch (type) {
    case 'number': {
      const number = readNumber(draft);
      return number === undefined
        ? problem('This is not a number.')
        : { kind: 'value', members: { value_num: number } };
    }
    case 'boolean':
      return { kind: 'value', members: { value_num: draft === '1' ? 1 : 0 } };
    case 'date':
      return { kind: 'value', members: { value_date: draft } };
    case 'datetime': {
      // Without an offset, so that everyone is shown the time as typed.
      const at = new Date(`${draft}Z`);
      if (Number.isNaN(at.getTime())) return problem('This is not a day and time.');
      return { kind: 'value', members: { value_date: at.toISOString() } };
    }
    case 'reference':
      return { kind: 'value', members: { value_ref: draft } };
    default:
      return { kind: 'value', members: { value_text: draft } };
  }
}
