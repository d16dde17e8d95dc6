import { isNested, isOpenVocabulary } from '@vitrine/contract/field-types';
import type { FieldValue, ValueWrite } from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import { shownAssets } from '../../../access/assets.ts';
import type { Caller, SignedIn } from '../../../access/caller.ts';
import { mayExtendVocabularies } from '../../../access/fields.ts';
import { recordEdits } from '../../../people/audit/record-edit.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { notFound, Refusal, refuse } from '../../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { charactersIn } from '../types/characters.ts';
import { createTerms, isBlank, type Match, matchTerms } from '../vocabulary/terms.ts';
import { readGiven } from './read-given.ts';
import {
  type CallersDefinition,
  checkContent,
  checkItems,
  checkWritable,
  type Definition,
  type FieldSelection,
  holdDefinitions,
} from './rules.ts';
import { type CurrentValue, readCurrentValue, type Stored, type Subject, storeValue } from './store.ts';
import { isSame, type TypedValue, termsOf, withTerms } from './typed-value.ts';

/** A value to write, and the current one. */
export interface ValueWithTerms {
  field: Definition;
  value: TypedValue;
  before: TypedValue | null;
}

/** A value that may name terms, and the field whose vocabulary they are of. */
interface Naming {
  field: Pick<Definition, 'id' | 'type' | 'open_vocabulary'>;
  value: TypedValue;
}

/** Whether writing these values would create terms, which requires a stronger lock on the definitions. */
export async function createsTerms(tx: Tx, meant: readonly Naming[]): Promise<boolean> {
  const named = meant.flatMap(({ field, value }) =>
    isOpenVocabulary(field) ? termsOf(field, value).map((text) => ({ fieldId: field.id, text })) : [],
  );
  return (await matchTerms(tx, named)).includes(null);
}

/** Throws a 422 when the text names a term that cannot be chosen. A value may keep a term that it has. */
function checkChoosable({ field, before }: ValueWithTerms, text: string, match: Exclude<Match, null>): void {
  const kept = before !== null && termsOf(field, before).includes(match.value);
  if (kept) return;
  if (match.status !== 'active')
    throw refuse('value-term-not-active', { property: field.code, term: text, status: match.status });
  if (isNested(field.type) && !match.isLeaf)
    throw refuse('value-term-has-narrower', { property: field.code, term: text });
}

/**
 * Resolves the terms that values name to slugs (TERM-3, TERM-7). An unknown term is 422, or is created in an open
 * vocabulary if the caller may extend it; the caller of this function holds the lock for that. Without `creates`, a
 * term that would be created stays as it is named.
 */
export async function resolveTerms(
  tx: Tx,
  caller: Caller,
  meant: readonly ValueWithTerms[],
  { creates = true } = {},
): Promise<TypedValue[]> {
  const named = meant.flatMap((given) =>
    termsOf(given.field, given.value).map((text) => ({ fieldId: given.field.id, text })),
  );
  const matches = await matchTerms(tx, named);
  const resolved: TypedValue[] = [];
  let next = 0;
  for (const given of meant) {
    const texts = termsOf(given.field, given.value);
    const found = matches.slice(next, next + texts.length);
    next += texts.length;
    const unknown = texts.filter((_, index) => found[index] === null);
    if (unknown.length > 0) checkMayExtend(caller, given.field, unknown);
    const made =
      unknown.length === 0 || !creates
        ? new Map(unknown.map((text) => [text, text]))
        : await createTerms(tx, given.field.id, unknown);
    if (made === null) throw refuse('vocabulary-full', { property: given.field.code });
    const slugs = texts.map((text, index) => {
      const match = found[index] ?? null;
      if (match === null) return made.get(text) ?? '';
      checkChoosable(given, text, match);
      return match.value;
    });
    resolved.push(withTerms(given.value, slugs));
  }
  return resolved;
}

function checkMayExtend(caller: Caller, field: Definition, unknown: readonly string[]): void {
  const [first = ''] = unknown;
  if (!isOpenVocabulary(field))
    throw refuse('value-term-unknown', { property: field.code, term: first.slice(0, 200) });
  if (unknown.some(isBlank)) throw refuse('value-blank-term', { property: field.code });
  if (!mayExtendVocabularies(caller))
    throw refuse('vocabulary-capability-missing', { term: first.slice(0, 200), property: field.code });
}

/** Throws the same 422 for a reference to a missing asset and to one the caller may not see. */
export async function checkReferences(
  tx: Tx,
  caller: Caller,
  meant: readonly Omit<ValueWithTerms, 'before'>[],
): Promise<void> {
  const refs = meant.flatMap(({ field, value }) => (value.kind === 'ref' ? [{ field, ref: value.ref }] : []));
  if (refs.length === 0) return;
  const { rows } = await sql<{ id: string }>`select a.id from assets a
    where a.id = any(${refs.map(({ ref }) => ref)}::uuid[]) and ${shownAssets(caller)}`.execute(tx);
  const readable = new Set(rows.map(({ id }) => id));
  const missing = refs.find(({ ref }) => !readable.has(ref));
  if (missing !== undefined)
    throw refuse('value-asset-not-found', { property: missing.field.code, asset: missing.ref });
}

/** VALUE-6: the server decides who wrote a value: `manual` for sessions, `api` for tokens. */
export function setByOf(caller: SignedIn): 'manual' | 'api' {
  return caller.authMethod === 'token' ? 'api' : 'manual';
}

/** Throws a 409 when a precondition of the client fails. */
function checkPrecondition(
  body: Pick<ValueWrite, 'if_unchanged_since' | 'if_absent'>,
  { stored, changedAt }: CurrentValue,
): void {
  const { if_unchanged_since: since, if_absent: isAbsent } = body;
  if (isAbsent === true && stored !== null)
    throw new Refusal('value-exists', {}, { updatedAt: stored.setAt });
  if (since == null || changedAt === null || Date.parse(changedAt) <= Date.parse(since)) return;
  throw new Refusal('changed', {}, { updatedAt: changedAt });
}

/** The locked subject; `updatedAt` is the time of an asset's row. */
export interface Target {
  subject: Subject;
  updatedAt: string;
  /** The account it belongs to; null if that was deleted. */
  owner: number | null;
}

async function holdOne(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  fieldId: string,
): Promise<CallersDefinition> {
  const wanted: FieldSelection = { ids: [fieldId], codes: [] };
  const [field] = await holdDefinitions(tx, caller, subject, wanted, 'share');
  if (field === undefined) throw notFound();
  return field;
}

/**
 * Writes one value; the caller of this function holds the subject's lock (VALUE-7). Takes the stronger lock on a
 * definition that will get new terms at once, because two writers who upgrade a shared lock would deadlock.
 */
export async function writeValue(
  tx: Tx,
  caller: SignedIn,
  target: Target,
  fieldId: string,
  body: ValueWrite,
): Promise<void> {
  const { subject } = target;
  if (body.if_absent === true && body.if_unchanged_since != null) throw refuse('if-absent-exclusive');
  const extended = await holdForTerms(tx, caller, subject, fieldId, body);
  const field = extended ?? (await holdOne(tx, caller, subject, fieldId));
  checkWritable(field);
  const value = readGiven(field, body);
  checkContent(field, value);
  if (field.mirrors_column !== null) return writeColumn(tx, caller, target, field, value, body);
  const current = await readCurrentValue(tx, subject, field.id);
  checkPrecondition(body, current);
  const meant: ValueWithTerms = { field, value, before: current.stored?.value ?? null };
  await checkReferences(tx, caller, [meant]);
  const [after = value] = await resolveTerms(tx, caller, [meant]);
  checkItems(field, after);
  await storeValue(tx, {
    subject,
    fieldId: field.id,
    before: current.stored,
    after,
    setBy: setByOf(caller),
    userRef: caller.ref,
  });
}

/** Locks the definition for new terms when this write would create some; otherwise returns null. */
async function holdForTerms(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  fieldId: string,
  body: ValueWrite,
): Promise<CallersDefinition | null> {
  const { value_options: options } = body;
  if (options == null || options.length === 0) return null;
  const field = await tx
    .selectFrom('fields')
    .select(['id', 'type', 'open_vocabulary'])
    .where('id', '=', fieldId)
    .executeTakeFirst();
  if (field === undefined || !isOpenVocabulary(field)) return null;
  if (!(await createsTerms(tx, [{ field, value: { kind: 'options', options } }]))) return null;
  const [held] = await holdDefinitions(tx, caller, subject, { ids: [fieldId], codes: [] }, 'terms');
  return held ?? null;
}

const columnLengths = { title: 500, description: 20_000 } as const;

/** Throws a 400 when a text is longer than the column that its field mirrors. */
export function checkColumnLength(field: Definition, value: TypedValue | null): void {
  const { mirrors_column: column } = field;
  if (column === null || value?.kind !== 'text') return;
  if (charactersIn(value.text) > columnLengths[column])
    throw refuse('value-exceeds-column', { property: field.code, max: columnLengths[column] });
}

function mirroredBy({ mirrors_column: column, code }: Definition): keyof typeof columnLengths {
  if (column === null) throw new Error(`${code} mirrors nothing`);
  return column;
}

/** Writes the column that a field mirrors; null empties it. */
export async function setColumn(
  tx: Tx,
  subject: Subject,
  field: Definition,
  value: TypedValue | null,
): Promise<void> {
  const column = mirroredBy(field);
  checkColumnLength(field, value);
  const text = value?.kind === 'text' ? value.text : '';
  await tx
    .updateTable('assets')
    .set({ [column]: text, updated_at: nextUpdatedAt })
    .where('id', '=', subject.id)
    .execute();
}

/**
 * FIELD-23: writing a mirrored column updates the asset: the precondition compares the asset's time, and the edit is
 * recorded as one of the asset.
 */
async function writeColumn(
  tx: Tx,
  caller: SignedIn,
  { subject, updatedAt, owner }: Target,
  field: Definition,
  value: TypedValue | null,
  body: Pick<ValueWrite, 'if_unchanged_since' | 'if_absent'>,
): Promise<void> {
  const row = await tx
    .selectFrom('assets')
    .select(['title', 'description'])
    .where('id', '=', subject.id)
    .executeTakeFirstOrThrow();
  const column = mirroredBy(field);
  const text = row[column];
  const stored: Stored | null =
    text === '' ? null : { value: { kind: 'text', text }, setBy: 'mirror', setAt: updatedAt };
  checkPrecondition(body, { stored, changedAt: updatedAt, clearedBy: null });
  await setColumn(tx, subject, field, value);
  if (isSame(stored?.value ?? null, value)) return;
  await recordEdits(tx, caller, [{ kind: 'asset', id: subject.id, owner, properties: [column] }], [column]);
}

/** Removes a value for a caller who may change its subject. Idempotent. */
export async function clearValue(
  tx: Tx,
  caller: SignedIn,
  target: Target,
  fieldId: string,
  body: Pick<ValueWrite, 'if_unchanged_since'>,
): Promise<void> {
  const { subject } = target;
  const field = await holdOne(tx, caller, subject, fieldId);
  checkWritable(field, { clears: true });
  if (field.mirrors_column !== null) return writeColumn(tx, caller, target, field, null, body);
  const current = await readCurrentValue(tx, subject, field.id);
  checkPrecondition(body, current);
  if (current.stored === null) return;
  await storeValue(tx, {
    subject,
    fieldId: field.id,
    before: current.stored,
    after: null,
    setBy: setByOf(caller),
    userRef: caller.ref,
  });
}

/** Returns the value just written; 409 when the caller can no longer see the asset that it names. */
export function onlyValue(values: readonly FieldValue[]): FieldValue {
  const [value] = values;
  if (value === undefined) throw refuse('changed');
  return value;
}
