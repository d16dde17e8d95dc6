import { type Constraints, type FieldType, factsOf } from '@vitrine/contract/field-types';
import { type RawBuilder, sql } from 'kysely';
import { RE2JS } from 're2js';
import type { SignedIn } from '../../../access/caller.ts';
import { knownFields, writableFields } from '../../../access/field-values.ts';
import type { Columns, Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import type { ValueFault } from '../types/field-type.ts';
import { rulesOf } from '../types/registry.ts';
import { appliesTo, definitionsFor, type Subject } from './store.ts';
import type { TypedValue } from './typed-value.ts';

/** The columns of a definition that its values depend on. */
export interface Definition
  extends Columns<
    'fields',
    | 'id'
    | 'code'
    | 'label'
    | 'type'
    | 'open_vocabulary'
    | 'required'
    | 'read_only'
    | 'regexp_filter'
    | 'mirrors_column'
    | 'status'
  > {
  options: Record<string, unknown>;
  /** Whether the field applies to this subject. */
  applies: boolean;
}

/** A definition with the caller's right to write it. */
export interface CallersDefinition extends Definition, Columns<'fields', 'write_capability'> {
  writable: boolean;
}

/** Columns of Definition for `fields d`. */
export function definitionColumns(subject: Subject): RawBuilder<Definition> {
  return sql`d.id, d.code, d.label, d.type, d.options, d.open_vocabulary, d.required, d.read_only, d.regexp_filter,
    d.mirrors_column, d.status, ${appliesTo(subject.kind)} as applies`;
}

/** Selects definitions by id and by code. */
export interface FieldSelection {
  ids: readonly string[];
  codes: readonly string[];
}

/**
 * The lock on a definition until the transaction ends: `share` prevents archiving it, `terms` also prevents others
 * from adding terms.
 */
export type DefinitionLock = 'share' | 'terms';

/**
 * Locks the definitions that the caller may know of, in the order of their ids so that two callers cannot deadlock.
 */
export async function holdDefinitions(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  wanted: FieldSelection,
  hold: DefinitionLock,
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
 * FIELD-16, FIELD-23: checks whether the caller may write values of this field. 403 when the field is read-only or
 * the capability is missing, 409 when its status or type of asset forbids new values.
 */
export function checkWritable(field: CallersDefinition, { clears = false, seeds = false } = {}): void {
  const { code } = field;
  if (field.read_only && !seeds) throw refuse('field-read-only', { property: code });
  if (!field.writable)
    throw refuse('field-capability-missing', { property: code, capability: field.write_capability ?? '' });
  if (field.status === 'archived') throw refuse('field-archived', { property: code });
  if (field.status === 'deprecated' && !clears) throw refuse('field-deprecated', { property: code });
  if (!field.applies && !clears) throw refuse('field-not-for-type', { property: code });
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const boundOf = (value: unknown): number | string | undefined =>
  typeof value === 'number' || typeof value === 'string' ? value : undefined;

/** Returns the constraints in a field's stored options and ignores free keys. */
export function constraintsOf(type: FieldType, options: unknown): Constraints {
  const known: readonly string[] = factsOf[type].constraints;
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

export interface ValuePattern {
  /** Whether the pattern matches the whole value (FIELD-19). */
  matches(value: string): boolean;
}

/** Compiles a pattern that passed `checkPattern`. Matching takes linear time. */
export function compilePattern(pattern: string): ValuePattern {
  const compiled = RE2JS.compile(pattern);
  return { matches: (value) => compiled.matches(value) };
}

/** Returns how a value violates the options of its field; null when it does not. */
export function faultOf({ type, options }: Definition, value: TypedValue): ValueFault | null {
  return rulesOf[type].faultOf(constraintsOf(type, options), value);
}

function faultyValue({ code }: Definition, { kind, limit }: ValueFault): Error {
  return refuse(`value-${kind}`, { property: code, ...(limit === undefined ? {} : { limit }) });
}

/**
 * Throws a 422 when a value violates the field's options or pattern (FIELD-21). `checkItems` counts terms after
 * resolution, because two names may resolve to one term.
 */
export function checkContent(field: Definition, value: TypedValue): void {
  if (value.kind === 'options') return;
  const fault = faultOf(field, value);
  if (fault !== null) throw faultyValue(field, fault);
  const { type, regexp_filter: pattern } = field;
  if (pattern === null || value.kind !== 'text' || !factsOf[type].takesPattern) return;
  if (!compilePattern(pattern).matches(value.text))
    throw refuse('value-not-matching', { property: field.code, pattern });
}

/** Throws a 422 when the value has too few or too many terms after resolution. */
export function checkItems(field: Definition, value: TypedValue): void {
  const fault = value.kind === 'options' ? faultOf(field, value) : null;
  if (fault !== null) throw faultyValue(field, fault);
}
