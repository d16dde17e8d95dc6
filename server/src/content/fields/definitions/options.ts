import { type Constraints, type FieldType, factsOf, hasVocabulary } from '@vitrine/contract/field-types';
import type { FieldOptions } from '@vitrine/contract/fields';
import { refuse } from '../../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../../platform/language/sentence.ts';
import { readVocabulary } from '../vocabulary/document.ts';
import type { Entry } from '../vocabulary/terms.ts';

/** The greatest length and number of terms. */
const MOST_COUNT = 1_000_000;

type Reader = (name: string, value: unknown) => void;

const wrong = (name: string, expected: Sentence) => refuse('option-invalid', { property: name, expected });

const count: Reader = (name, value) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MOST_COUNT)
    throw wrong(name, sentence('a whole number from {least} to {most}', { least: 0, most: MOST_COUNT }));
};
const finite: Reader = (name, value) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(name, sentence('a number'));
};
const positive: Reader = (name, value) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
    throw wrong(name, sentence('above 0'));
};
const flag: Reader = (name, value) => {
  if (typeof value !== 'boolean') throw wrong(name, sentence('true or false'));
};
const moment: Reader = (name, value) => {
  const isDay =
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(value);
  // `Date` parses 31 February as a day in March, so the day is compared after parsing.
  const day = isDay ? value.slice(0, 10) : '';
  const parsed = new Date(`${day}T00:00:00Z`);
  if (
    !isDay ||
    Number.isNaN(parsed.getTime()) ||
    Number.isNaN(Date.parse(value)) ||
    !parsed.toISOString().startsWith(day)
  )
    throw wrong(name, sentence('a day or an instant'));
};

/** Returns the checks of all constraints for a field of this type. */
const readerOf = (type: FieldType): Readonly<Record<keyof Constraints, Reader>> => {
  const bound = factsOf[type].member === 'value_num' ? finite : moment;
  return {
    min_length: count,
    max_length: count,
    min: bound,
    max: bound,
    step: positive,
    integer: flag,
    min_items: count,
    max_items: count,
  };
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

/** The greatest length of all free keys as JSON. */
const MOST_FREE = 20_000;

export interface ReadOptions {
  /** Everything but the vocabulary, unchanged. */
  rest: FieldOptions;
  /** Undefined when `values` is missing. */
  vocabulary: Entry[] | undefined;
}

/** Reads the options of a field of this type; throws a 400 that names the fault. */
export function readOptions(type: FieldType, { values, ...rest }: FieldOptions): ReadOptions {
  if (rest.truncated !== undefined || rest.vocabulary_size !== undefined) {
    throw refuse('options-truncated');
  }
  if (values !== undefined && !hasVocabulary(type)) {
    throw refuse('options-without-values', { type });
  }
  const known = factsOf[type].constraints;
  for (const name of known) {
    if (Object.hasOwn(rest, name)) readerOf(type)[name](name, rest[name]);
  }
  for (const [least, most] of pairs) {
    if (!known.includes(least)) continue;
    const [low, high] = [comparable(rest[least]), comparable(rest[most])];
    if (low !== undefined && high !== undefined && low > high)
      throw refuse('options-bounds-reversed', { property: least, other: most });
  }
  if (JSON.stringify(rest).length > MOST_FREE) {
    throw refuse('options-too-large', { max: MOST_FREE });
  }
  return { rest, vocabulary: values === undefined ? undefined : readVocabulary(type, values) };
}
