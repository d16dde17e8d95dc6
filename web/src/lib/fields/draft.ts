import type { FieldValue, ValueMembers } from '@vitrine/contract/field-values';
import type { FieldType } from '@vitrine/contract/fields';

/** What a form holds for one field: several terms, or one text that the type gives its meaning. */
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

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** An instant as the browser's control for a time takes it: in the reader's own time zone. */
function localTime(instant: string): string {
  const at = new Date(instant);
  const day = [
    String(at.getFullYear()).padStart(4, '0'),
    twoDigits(at.getMonth() + 1),
    twoDigits(at.getDate()),
  ];
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits);
  return `${day.join('-')}T${time.join(':')}`;
}

type Members = Pick<FieldValue, 'value_text' | 'value_num' | 'value_date' | 'value_options' | 'value_ref'>;

/** The form of a value as it is stored; without one it is empty. */
export function draftOf(type: FieldType, value: Members | undefined): Draft {
  if (value === undefined) return emptyDraft(type);
  const { value_text, value_num, value_date, value_options, value_ref } = value;
  if (type === 'multi_select') return value_options ?? [];
  if (value_date !== undefined) return type === 'date' ? value_date.slice(0, 10) : localTime(value_date);
  if (value_num !== undefined) return String(value_num);
  return value_text ?? value_ref ?? '';
}

/** What is sent for a draft: a value, none, or nothing yet because the draft means none of this type. */
export type Sent =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly members: ValueMembers }
  | { readonly kind: 'problem'; readonly text: string };

function problem(text: string): Sent {
  return { kind: 'problem', text };
}

/** A number as people type it: one comma is a decimal point. */
function readNumber(text: string): number | undefined {
  const plain = text.trim().replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return undefined;
  const number = Number(plain);
  return Number.isFinite(number) ? number : undefined;
}

/** What to send so that the field has what its draft says. Text is sent as it is typed (FIELD-21). */
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
      const at = new Date(draft);
      if (Number.isNaN(at.getTime())) return problem('This is not a day and time.');
      return { kind: 'value', members: { value_date: at.toISOString() } };
    }
    case 'reference':
      return { kind: 'value', members: { value_ref: draft } };
    default:
      return { kind: 'value', members: { value_text: draft } };
  }
}
