import type { FieldStatus, FieldType } from '@vitrine/contract/fields';
import { mostCharacters } from '@vitrine/contract/limits';
import { type RawBuilder, sql } from 'kysely';
import { RE2JS } from 're2js';
import type { SignedIn } from '../../access/caller.ts';
import { knownFields, writableFields } from '../../access/field-values.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { textIn } from './rich-text.ts';
import { appliesTo, definitionsFor, type Subject } from './store.ts';
import type { TypedValue } from './typed-value.ts';

/** What of a definition decides about its values. */
export interface Definition {
  id: string;
  code: string;
  label: string;
  type: FieldType;
  options: Record<string, unknown>;
  open_vocabulary: boolean;
  required: boolean;
  read_only: boolean;
  regexp_filter: string | null;
  mirrors_column: 'title' | 'description' | null;
  status: FieldStatus;
  /** Whether it is for this subject. */
  applies: boolean;
}

/** A definition with what the caller's capabilities say of it. */
export interface CallersDefinition extends Definition {
  writable: boolean;
  write_capability: string | null;
}

/** Columns of Definition for `fields d`. */
export function definitionColumns(subject: Subject): RawBuilder<Definition> {
  return sql`d.id, d.code, d.label, d.type, d.options, d.open_vocabulary, d.required, d.read_only, d.regexp_filter,
    d.mirrors_column, d.status, ${appliesTo(subject.kind)} as applies`;
}

/** Which definitions: by these ids and codes. */
export interface Wanted {
  ids: readonly string[];
  codes: readonly string[];
}

/**
 * How firmly a definition is held until the transaction ends: `share` lets nobody archive it meanwhile, `terms` lets
 * nobody else write its terms either.
 */
export type Hold = 'share' | 'terms';

/** Definitions the caller may know of, held; in one order for everybody, so that two callers never wait in a ring. */
export async function holdDefinitions(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  wanted: Wanted,
  hold: Hold,
): Promise<CallersDefinition[]> {
  const { rows } = await sql<CallersDefinition>`
    select ${definitionColumns(subject)}, ${writableFields(caller, subject.kind)} as writable, d.write_capability
    from ${definitionsFor(subject)}
    where (d.id = any(${[...wanted.ids]}::uuid[]) or d.code = any(${[...wanted.codes]}::text[]))
      and ${knownFields(caller, subject.kind)}
    order by d.id for ${hold === 'share' ? sql`share` : sql`no key update`} of d`.execute(tx);
  return rows;
}

/**
 * FIELD-16, FIELD-23: whether people may write values of this field here at all. 403 for what nobody may or the
 * caller may not, 409 for what the definition has no room for any more.
 */
export function checkWritable(field: CallersDefinition, { clears = false, seeds = false } = {}): void {
  const { code } = field;
  if (field.read_only && !seeds) throw refuse(403, `${code} is read-only`);
  if (!field.writable) throw refuse(403, `missing capability ${field.write_capability} to write ${code}`);
  if (field.status === 'archived') throw refuse(409, `${code} is archived`);
  if (field.status === 'deprecated' && !clears)
    throw refuse(409, `${code} is deprecated and takes no new values`);
  if (!field.applies && !clears) throw refuse(409, `${code} is not for assets of this type`);
}

/** TERM-7: honoured for multi_select only. */
export function isOpen(field: Definition): boolean {
  return field.open_vocabulary && field.type === 'multi_select';
}

/** What options of a type mean beside the vocabulary. Other keys are free and kept as they are (FIELD-37). */
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

const lengths = ['min_length', 'max_length'] as const;
const bounds = ['min', 'max'] as const;

/** The constraints that a type has. Options of other names are free keys. */
export const constraintNames: Readonly<Record<FieldType, readonly (keyof Constraints)[]>> = {
  text: lengths,
  longtext: lengths,
  rich_text: lengths,
  number: [...bounds, 'step', 'integer'],
  boolean: [],
  date: bounds,
  datetime: bounds,
  select: [],
  multi_select: ['min_items', 'max_items'],
  tree: [],
  reference: [],
};

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const boundOf = (value: unknown): number | string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? value : undefined;

/** The constraints in a field's stored options; free keys are passed over. */
export function constraintsOf(type: FieldType, options: unknown): Constraints {
  const known: readonly string[] = constraintNames[type];
  const stored: Record<string, unknown> =
    typeof options === 'object' && options !== null
      ? Object.fromEntries(Object.entries(options).filter(([name]) => known.includes(name)))
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

export interface ValuePattern {
  /** Whether the whole value matches (FIELD-19). */
  matches(value: string): boolean;
}

/** A pattern that passed checkPattern, ready to match whole values in linear time. */
export function compilePattern(pattern: string): ValuePattern {
  const compiled = RE2JS.compile(pattern);
  return { matches: (value) => compiled.matches(value) };
}

/** What is wrong with a value under the options of its field, or null. */
export function faultOf({ type, options }: Definition, value: TypedValue): string | null {
  const constraints = constraintsOf(type, options);
  switch (value.kind) {
    case 'text':
      return faultOfText(constraints, type === 'rich_text' ? textIn(value.text) : value.text);
    case 'num':
      return faultOfNumber(constraints, value.num);
    case 'date':
      return faultOfDate(constraints, value.date);
    case 'options':
      return faultOfItems(constraints, value.options.length);
    case 'ref':
      return null;
  }
}

/**
 * What the operator asks of values people write: the options, and the pattern (FIELD-21). Names of terms are
 * counted once each is the term it names (`checkItems`): two names may be one term.
 */
export function checkContent(field: Definition, value: TypedValue): void {
  if (value.kind === 'options') return;
  const fault = faultOf(field, value);
  if (fault !== null) throw refuse(422, `${field.code} ${fault}`);
  const { type, regexp_filter: pattern } = field;
  if (pattern === null || value.kind !== 'text' || (type !== 'text' && type !== 'longtext')) return;
  if (!compilePattern(pattern).matches(value.text))
    throw refuse(422, `${field.code} does not match ${pattern}`);
}

/** The 422 of too few or too many terms, counted as they are stored. */
export function checkItems(field: Definition, value: TypedValue): void {
  const fault = value.kind === 'options' ? faultOf(field, value) : null;
  if (fault !== null) throw refuse(422, `${field.code} ${fault}`);
}
