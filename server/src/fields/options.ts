import type { FieldOptions, FieldType } from '@vitrine/contract/fields';
import { mostCharacters } from '@vitrine/contract/limits';
import { refuse } from '../platform/http/refuse.ts';
import { type Entry, hasVocabulary, readVocabulary } from './vocabulary.ts';

/** What options of a type mean beside the vocabulary. Other keys are free and kept as they are (spec 4.5). */
export interface Constraints {
  /** text, longtext, rich_text: in characters. */
  min_length?: number;
  max_length?: number;
  /** number: a number. date, datetime: a day or an instant, as text. */
  min?: number | string;
  max?: number | string;
  /** number: values are whole multiples of it, counted from `min`, or from 0. */
  step?: number;
  /** number: whole ones only. */
  integer?: boolean;
  /** multi_select: how many terms a value has. */
  min_items?: number;
  max_items?: number;
}

type Reader = (name: string, value: unknown) => void;

const wrong = (name: string, what: string) => refuse(400, `options: ${name} is not ${what}`);

const count: Reader = (name, value) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 1_000_000)
    throw wrong(name, 'a whole number from 0 to 1000000');
};
const finite: Reader = (name, value) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(name, 'a number');
};
const positive: Reader = (name, value) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) throw wrong(name, 'above 0');
};
const flag: Reader = (name, value) => {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false');
};
const moment: Reader = (name, value) => {
  const isDay =
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(value);
  // 31 February parses, as a day of March; so the day is read back.
  const day = isDay ? value.slice(0, 10) : '';
  const parsed = new Date(`${day}T00:00:00Z`);
  if (
    !isDay ||
    Number.isNaN(parsed.getTime()) ||
    Number.isNaN(Date.parse(value)) ||
    !parsed.toISOString().startsWith(day)
  )
    throw wrong(name, 'a day or an instant');
};

const length = { min_length: count, max_length: count };
const readers: Readonly<Record<FieldType, Readonly<Record<string, Reader>>>> = {
  text: length,
  longtext: length,
  rich_text: length,
  number: { min: finite, max: finite, step: positive, integer: flag },
  boolean: {},
  date: { min: moment, max: moment },
  datetime: { min: moment, max: moment },
  select: {},
  multi_select: { min_items: count, max_items: count },
  tree: {},
  reference: {},
};

const pairs = [
  ['min_length', 'max_length'],
  ['min', 'max'],
  ['min_items', 'max_items'],
] as const;

function comparable(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? Date.parse(value) : undefined;
}

/** How many characters free keys take at most. */
const MOST_FREE = 20_000;

export interface ReadOptions {
  /** All but the vocabulary, as it was given. */
  rest: FieldOptions;
  /** Undefined where no `values` was given. */
  vocabulary: Entry[] | undefined;
}

/** The options of a field of this type, taken apart; throws a 400 that names what is wrong. */
export function readOptions(type: FieldType, { values, ...rest }: FieldOptions): ReadOptions {
  if (rest.truncated !== undefined || rest.vocabulary_size !== undefined) {
    throw refuse(400, 'options: truncated vocabularies are not written back; change terms one by one');
  }
  if (values !== undefined && !hasVocabulary(type)) {
    throw refuse(400, `options: a field of type ${type} has no values`);
  }
  const known = readers[type];
  for (const [name, value] of Object.entries(rest)) {
    if (Object.hasOwn(known, name)) known[name]?.(name, value);
  }
  for (const [least, most] of pairs) {
    if (!Object.hasOwn(known, least)) continue;
    const [low, high] = [comparable(rest[least]), comparable(rest[most])];
    if (low !== undefined && high !== undefined && low > high)
      throw refuse(400, `options: ${least} is above ${most}`);
  }
  if (JSON.stringify(rest).length > MOST_FREE) {
    throw refuse(400, `options: more than ${MOST_FREE} characters beside the values`);
  }
  return { rest, vocabulary: values === undefined ? undefined : readVocabulary(type, values) };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const boundOf = (value: unknown): number | string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? value : undefined;

/** The constraints in a field's stored options; free keys are passed over. */
export function constraintsOf(type: FieldType, options: unknown): Constraints {
  const known = readers[type];
  const stored: Record<string, unknown> =
    typeof options === 'object' && options !== null
      ? Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(known, name)))
      : {};
  const min_length = numberOf(stored.min_length);
  const max_length = numberOf(stored.max_length);
  const min_items = numberOf(stored.min_items);
  const max_items = numberOf(stored.max_items);
  const step = numberOf(stored.step);
  const min = boundOf(stored.min);
  const max = boundOf(stored.max);
  return {
    ...(min_length === undefined ? {} : { min_length }),
    ...(max_length === undefined ? {} : { max_length }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(step === undefined ? {} : { step }),
    ...(typeof stored.integer === 'boolean' ? { integer: stored.integer } : {}),
    ...(min_items === undefined ? {} : { min_items }),
    ...(max_items === undefined ? {} : { max_items }),
  };
}

/** How many characters a value of a field of text has at most. */
export function longestValue(type: 'text' | 'longtext', options: unknown): number {
  return Math.min(mostCharacters[type], constraintsOf(type, options).max_length ?? Infinity);
}

/** What is wrong with a number under these constraints, or null. */
export function faultOfNumber({ min, max, step, integer }: Constraints, value: number): string | null {
  if (!Number.isFinite(value)) return 'is not a finite number';
  if (integer === true && !Number.isInteger(value)) return 'is not a whole number';
  if (typeof min === 'number' && value < min) return `is below ${min}`;
  if (typeof max === 'number' && value > max) return `is above ${max}`;
  if (step !== undefined) {
    const steps = (value - (typeof min === 'number' ? min : 0)) / step;
    // Binary fractions: 0.3 is not exactly three steps of 0.1.
    if (Math.abs(steps - Math.round(steps)) > 1e-9 * Math.max(1, Math.abs(steps)))
      return `is no multiple of ${step}`;
  }
  return null;
}

/** What is wrong with a text under these constraints, or null; characters are counted as people do. */
export function faultOfText({ min_length, max_length }: Constraints, value: string): string | null {
  const characters = [...value].length;
  if (min_length !== undefined && characters < min_length) return `is shorter than ${min_length} characters`;
  if (max_length !== undefined && characters > max_length) return `is longer than ${max_length} characters`;
  return null;
}

/** What is wrong with a day or an instant under these constraints, or null. */
export function faultOfDate({ min, max }: Constraints, value: string): string | null {
  const at = Date.parse(value);
  if (Number.isNaN(at)) return 'is no date';
  if (typeof min === 'string' && at < Date.parse(min)) return `is before ${min}`;
  if (typeof max === 'string' && at > Date.parse(max)) return `is after ${max}`;
  return null;
}

/** What is wrong with the number of terms under these constraints, or null. */
export function faultOfItems({ min_items, max_items }: Constraints, items: number): string | null {
  if (min_items !== undefined && items < min_items) return `has fewer than ${min_items} terms`;
  if (max_items !== undefined && items > max_items) return `has more than ${max_items} terms`;
  return null;
}
