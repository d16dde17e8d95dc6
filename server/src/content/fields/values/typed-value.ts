import { type FieldType, hasVocabulary } from '@vitrine/contract/field-types';
import { minutesOf, withOffset } from './moments.ts';

/** A value of one of the five stored kinds (VALUE-1). */
export type TypedValue =
  | { kind: 'text'; text: string }
  | { kind: 'num'; num: number }
  | { kind: 'date'; date: string }
  | { kind: 'options'; options: readonly string[] }
  | { kind: 'ref'; ref: string };

/** As stored in a row: exactly one of the columns is set, and `value_offset` only beside `value_date`. */
export interface ValueColumns {
  value_text: string | null;
  value_num: number | null;
  value_date: string | null;
  /** Minutes east of UTC; null if the offset is zero or unknown. */
  value_offset: number | null;
  value_options: string[] | null;
  value_ref: string | null;
}

/** As JSON: the member that is set. */
export interface StoredMembers {
  value_text?: string;
  value_num?: number;
  value_date?: string;
  value_options?: string[];
  value_ref?: string;
}

export function columnsOf(value: TypedValue): ValueColumns {
  return {
    value_text: value.kind === 'text' ? value.text : null,
    value_num: value.kind === 'num' ? value.num : null,
    value_date: value.kind === 'date' ? value.date : null,
    value_offset: value.kind === 'date' ? minutesOf(value.date) : null,
    value_options: value.kind === 'options' ? [...value.options] : null,
    value_ref: value.kind === 'ref' ? value.ref : null,
  };
}

export function membersOf(columns: ValueColumns): StoredMembers {
  return {
    ...(columns.value_text === null ? {} : { value_text: columns.value_text }),
    ...(columns.value_num === null ? {} : { value_num: columns.value_num }),
    ...(columns.value_date === null
      ? {}
      : { value_date: withOffset(columns.value_date, columns.value_offset) }),
    ...(columns.value_options === null ? {} : { value_options: columns.value_options }),
    ...(columns.value_ref === null ? {} : { value_ref: columns.value_ref }),
  };
}

/** Reads the member that is set; null when none is. */
export function storedIn(columns: ValueColumns): TypedValue | null {
  if (columns.value_text !== null) return { kind: 'text', text: columns.value_text };
  if (columns.value_num !== null) return { kind: 'num', num: columns.value_num };
  if (columns.value_date !== null)
    return { kind: 'date', date: withOffset(columns.value_date, columns.value_offset) };
  if (columns.value_options !== null) return { kind: 'options', options: columns.value_options };
  if (columns.value_ref !== null) return { kind: 'ref', ref: columns.value_ref };
  return null;
}

/** Returns a value, or none, as JSON. */
export function toMembers(value: TypedValue | null): StoredMembers | null {
  return value === null ? null : membersOf(columnsOf(value));
}

/** Reads what `toMembers` has returned. */
export function fromMembers(members: StoredMembers | null): TypedValue | null {
  if (members === null) return null;
  const { value_text, value_num, value_date, value_options, value_ref } = members;
  if (value_text !== undefined) return { kind: 'text', text: value_text };
  if (value_num !== undefined) return { kind: 'num', num: value_num };
  if (value_date !== undefined) return { kind: 'date', date: value_date };
  if (value_options !== undefined) return { kind: 'options', options: value_options };
  return value_ref === undefined ? null : { kind: 'ref', ref: value_ref };
}

/** Whether two stored values are equal. */
export function isSame(a: TypedValue | null, b: TypedValue | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'date' && b.kind === 'date')
    return Date.parse(a.date) === Date.parse(b.date) && minutesOf(a.date) === minutesOf(b.date);
  return JSON.stringify(columnsOf(a)) === JSON.stringify(columnsOf(b));
}

/** The terms that a value names, as given. */
export function termsOf({ type }: { type: FieldType }, value: TypedValue): readonly string[] {
  if (!hasVocabulary(type)) return [];
  if (value.kind === 'options') return value.options;
  return value.kind === 'text' ? [value.text] : [];
}

/** Replaces the named terms by these, without duplicates. */
export function withTerms(value: TypedValue, terms: readonly string[]): TypedValue {
  const [first] = terms;
  if (value.kind === 'options') return { kind: 'options', options: [...new Set(terms)] };
  return first === undefined ? value : { kind: 'text', text: first };
}
