import { mostOptions, type ValueMembers } from '@vitrine/contract/field-values';
import type { FieldType } from '@vitrine/contract/fields';
import { mostCharacters } from '@vitrine/contract/limits';
import { refuse } from '../../../platform/http/refuse.ts';
import { hasVocabulary } from '../vocabulary/terms.ts';
import { cleanHtml, hasNoText } from './rich-text.ts';

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

const offsetPattern = /([+-])(\d\d):(\d\d)$/;

/** Returns the offset of an instant in minutes; null for UTC. */
function minutesOf(date: string): number | null {
  const [, sign, hours, minutes] = offsetPattern.exec(date) ?? [];
  const total = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return total === 0 ? null : sign === '-' ? -total : total;
}

/** Larger offsets do not exist; their times are kept in UTC. */
const MOST_OFFSET = 14 * 60 + 59;

/** Returns an instant as the time at this offset from UTC, in minutes (VALUE-26). */
export function withOffset(instant: string, minutes: number | null): string {
  if (minutes === null || minutes === 0 || Math.abs(minutes) > MOST_OFFSET) return instant;
  const local = new Date(Date.parse(instant) + minutes * 60_000).toISOString();
  // A year of five digits has no form in the interface.
  if (!/^\d{4}-/.test(local) || local.startsWith('0000')) return instant;
  const two = (count: number) => String(count).padStart(2, '0');
  const size = Math.abs(minutes);
  const clock = local
    .slice(0, -1)
    .replace(/\.(\d*?)0*$/, (_, digits: string) => (digits === '' ? '' : `.${digits}`));
  return `${clock}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
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

/** Whether two stored values are equal. */
export function isSame(a: TypedValue | null, b: TypedValue | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'date' && b.kind === 'date')
    return Date.parse(a.date) === Date.parse(b.date) && minutesOf(a.date) === minutesOf(b.date);
  return JSON.stringify(columnsOf(a)) === JSON.stringify(columnsOf(b));
}

export const valueMembers = ['value_text', 'value_num', 'value_date', 'value_options', 'value_ref'] as const;
export type ValueMember = (typeof valueMembers)[number];

/** The member that carries a value of each type (VALUE-1). */
export const memberOf: Readonly<Record<FieldType, ValueMember>> = {
  text: 'value_text',
  longtext: 'value_text',
  rich_text: 'value_text',
  select: 'value_text',
  tree: 'value_text',
  number: 'value_num',
  boolean: 'value_num',
  date: 'value_date',
  datetime: 'value_date',
  multi_select: 'value_options',
  reference: 'value_ref',
};

interface Typed {
  code: string;
  type: FieldType;
}

/** The terms that a value names, as given. */
export function termsOf({ type }: Pick<Typed, 'type'>, value: TypedValue): readonly string[] {
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

function textOf({ code, type }: Typed, text: string): TypedValue {
  if (type === 'select' || type === 'tree') {
    if (text.length > 200) throw refuse(422, `${code}: a term has at most 200 characters`);
    return { kind: 'text', text };
  }
  if (type !== 'text' && type !== 'longtext' && type !== 'rich_text')
    throw refuse(400, `${code} does not accept text`);
  const most = mostCharacters[type];
  if (Array.from(text).length > most) throw refuse(400, `${code} is longer than ${most} characters`);
  if (type !== 'rich_text') return { kind: 'text', text };
  const html = cleanHtml(text);
  if (html.length > 2 * most) throw refuse(400, `${code} is longer than ${most} characters`);
  if (hasNoText(html)) throw refuse(400, `${code}: no text is left after sanitising`);
  return { kind: 'text', text: html };
}

function numberOf({ code, type }: Typed, num: number): TypedValue {
  if (!Number.isFinite(num)) throw refuse(400, `${code} is not a finite number`);
  if (type === 'boolean' && num !== 0 && num !== 1) throw refuse(400, `${code} is 0 or 1`);
  // Stores -0 as 0.
  return { kind: 'num', num: num === 0 ? 0 : num };
}

/** Days and instants as clients write them (VALUE-1). Invalid dates are null; nothing is guessed. */

const dayPattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const instantPattern =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):(\d\d))$/;

/** Returns `YYYY-MM-DD` when that day exists. */
function existingDay(text: string): string | null {
  const [, year, month, day] = dayPattern.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined || year === '0000') return null;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text) ? text : null;
}

/** Returns the instant in UTC with milliseconds, or null when the text is not a valid instant. */
export function readInstant(text: string): string | null {
  const [, day, hour, minute, second, , , , offsetHour, offsetMinute] = instantPattern.exec(text) ?? [];
  if (day === undefined || existingDay(day) === null) return null;
  const inRange =
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(offsetHour ?? 0) < 24 &&
    Number(offsetMinute ?? 0) < 60;
  const at = new Date(text.toUpperCase());
  if (!inRange || Number.isNaN(at.getTime())) return null;
  const iso = at.toISOString();
  // The offset may move it out of the four-digit years of the interface.
  return /^\d{4}-/.test(iso) && !iso.startsWith('0000') ? iso : null;
}

/** Returns the day as written, alone or as part of an instant, ignoring the offset. */
export function readDay(text: string): string | null {
  if (dayPattern.test(text)) return existingDay(text);
  return readInstant(text) === null ? null : existingDay(text.slice(0, 10));
}

/** Whether the text is a day without a time. */
export function isDay(text: string): boolean {
  return dayPattern.test(text) && existingDay(text) !== null;
}

/** The instant that represents a day. */
export function startOfDay(day: string): string {
  return `${day}T00:00:00.000Z`;
}

/** Returns the start of the following day; null after the last representable day. */
export function startOfNextDay(day: string): string | null {
  const iso = new Date(Date.parse(startOfDay(day)) + 86_400_000).toISOString();
  return /^\d{4}-/.test(iso) ? iso : null;
}

/** Reads the day or instant of a text for a field of this type; null when there is none. */
export function readDate(type: FieldType, text: string): string | null {
  if (type !== 'date') {
    const instant = readInstant(text);
    return instant === null ? null : withOffset(instant, minutesOf(text));
  }
  const day = readDay(text);
  return day === null ? null : startOfDay(day);
}

function dateOf({ code, type }: Typed, text: string): TypedValue {
  const date = readDate(type, text);
  if (date === null)
    throw refuse(
      400,
      `${code} is not a ${type === 'date' ? 'day, like 2026-11-21' : 'time with its offset'}`,
    );
  return { kind: 'date', date };
}

function emptyOf(code: string): Error {
  return refuse(400, `${code} is empty; delete the value instead`);
}

/**
 * Reads the value for a field from a body and checks its type. 400 when the value is in another member, in several,
 * empty, or of another type. Keeps blanks (FIELD-19, FIELD-26).
 */
export function readGiven(field: Typed, body: ValueMembers): TypedValue {
  const wanted = memberOf[field.type];
  const other = valueMembers.find((member) => member !== wanted && body[member] != null);
  if (other !== undefined) throw refuse(400, `${field.code} takes ${wanted}, not ${other}`);
  const { value_text, value_num, value_date, value_options, value_ref } = body;
  if (wanted === 'value_text' && value_text != null) {
    if (value_text === '') throw emptyOf(field.code);
    return textOf(field, value_text);
  }
  if (wanted === 'value_num' && value_num != null) return numberOf(field, value_num);
  if (wanted === 'value_date' && value_date != null) return dateOf(field, value_date);
  if (wanted === 'value_options' && value_options != null) {
    if (value_options.length === 0) throw emptyOf(field.code);
    if (value_options.length > mostOptions) throw refuse(400, `${field.code} names too many terms`);
    return { kind: 'options', options: value_options };
  }
  if (wanted === 'value_ref' && value_ref != null) return { kind: 'ref', ref: value_ref.toLowerCase() };
  throw refuse(400, `${wanted} is missing`);
}
