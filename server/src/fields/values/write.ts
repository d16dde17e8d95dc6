import type { FieldValue, ValueWrite } from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, Refusal, refuse } from '../../platform/http/refuse.ts';
import { movedOn } from '../../platform/http/unchanged.ts';
import { constraintsOf, faultOfDate, faultOfItems, faultOfNumber, faultOfText } from '../options.ts';
import { compilePattern } from '../pattern.ts';
import {
  type CallersDefinition,
  checkWritable,
  type Definition,
  holdDefinitions,
  type Wanted,
} from './definition.ts';
import { checkReferences, createsTerms, isOpen, type Meant, resolveTerms } from './resolve.ts';
import { textIn } from './rich-text.ts';
import { readStanding, type Standing, type Stored, storeValue } from './store.ts';
import type { Subject } from './subject.ts';
import { readGiven, type TypedValue } from './typed-value.ts';

/** A client cannot say who wrote a value: a session writes by hand, a token for a script (choices, fields). */
export function setByOf(caller: SignedIn): 'manual' | 'api' {
  return caller.authMethod === 'token' ? 'api' : 'manual';
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
 * What the operator asks of values people write: the options, and the pattern (spec 2.7 rule 9). Names of terms are
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

/** Throws 409 when the value is not as the client believes it to be. */
function checkBelief(
  body: Pick<ValueWrite, 'if_unchanged_since' | 'if_absent'>,
  { stored, changedAt }: Standing,
): void {
  const { if_unchanged_since: since, if_absent: isAbsent } = body;
  if (isAbsent === true && stored !== null)
    throw new Refusal(409, { error: 'there is a value already', updated_at: stored.setAt });
  if (since == null || changedAt === null || Date.parse(changedAt) <= Date.parse(since)) return;
  throw new Refusal(409, { error: 'it was changed meanwhile', updated_at: changedAt });
}

/** What a value is written into, locked; `updatedAt` is that of an asset's row. */
export interface Target {
  subject: Subject;
  updatedAt: string;
}

async function holdOne(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  fieldId: string,
): Promise<CallersDefinition> {
  const wanted: Wanted = { ids: [fieldId], codes: [] };
  const [field] = await holdDefinitions(tx, caller, subject, wanted, 'share');
  if (field === undefined) throw notFound();
  return field;
}

/**
 * Writes one value for a caller who may change its subject, under the subject's lock (choices, fields). A definition
 * that is to take new terms is held for that from the start: two writers who held it only as it is would wait for
 * each other for ever.
 */
export async function writeValue(
  tx: Tx,
  caller: SignedIn,
  target: Target,
  fieldId: string,
  body: ValueWrite,
): Promise<void> {
  const { subject } = target;
  if (body.if_absent === true && body.if_unchanged_since != null)
    throw refuse(400, 'if_absent and if_unchanged_since exclude each other');
  const extended = await holdForTerms(tx, caller, subject, fieldId, body);
  const field = extended ?? (await holdOne(tx, caller, subject, fieldId));
  checkWritable(field);
  const value = readGiven(field, body);
  checkContent(field, value);
  if (field.mirrors_column !== null) return writeColumn(tx, target, field, value, body);
  const standing = await readStanding(tx, subject, field.id);
  checkBelief(body, standing);
  const meant: Meant = { field, value, before: standing.stored?.value ?? null };
  await checkReferences(tx, caller, [meant]);
  const [after = value] = await resolveTerms(tx, caller, [meant]);
  checkItems(field, after);
  await storeValue(tx, {
    subject,
    fieldId: field.id,
    before: standing.stored,
    after,
    setBy: setByOf(caller),
    userRef: caller.ref,
  });
}

/** The definition held for new terms when this write would make some; null when it would not. */
async function holdForTerms(
  tx: Tx,
  caller: SignedIn,
  subject: Subject,
  fieldId: string,
  body: ValueWrite,
): Promise<CallersDefinition | null> {
  const { value_options: options } = body;
  if (options == null || options.length === 0) return null;
  const { rows } = await sql<Definition>`select d.id, d.type, d.open_vocabulary from fields d
    where d.id = ${fieldId}`.execute(tx);
  const [field] = rows;
  if (field === undefined || !isOpen(field)) return null;
  if (!(await createsTerms(tx, [{ field, value: { kind: 'options', options } }]))) return null;
  const [held] = await holdDefinitions(tx, caller, subject, { ids: [fieldId], codes: [] }, 'terms');
  return held ?? null;
}

const columnLengths = { title: 500, description: 20_000 } as const;

/** Writes the column of the asset that a field mirrors; null empties it. */
export async function setColumn(
  tx: Tx,
  subject: Subject,
  field: Definition,
  value: TypedValue | null,
): Promise<void> {
  const { mirrors_column: column } = field;
  if (column === null) throw new Error(`${field.code} mirrors nothing`);
  const text = value?.kind === 'text' ? value.text : '';
  if (text.length > columnLengths[column])
    throw refuse(400, `${field.code} is longer than ${columnLengths[column]} characters`);
  await tx
    .updateTable('assets')
    .set({ [column]: text, updated_at: movedOn })
    .where('id', '=', subject.id)
    .execute();
}

/** spec 2.7 rule 10: a write to a mirrored column is a write to the asset, and holds its time against it. */
async function writeColumn(
  tx: Tx,
  { subject, updatedAt }: Target,
  field: Definition,
  value: TypedValue | null,
  body: Pick<ValueWrite, 'if_unchanged_since' | 'if_absent'>,
): Promise<void> {
  const row = await tx
    .selectFrom('assets')
    .select(['title', 'description'])
    .where('id', '=', subject.id)
    .executeTakeFirstOrThrow();
  const text = field.mirrors_column === 'title' ? row.title : row.description;
  const stored: Stored | null =
    text === '' ? null : { value: { kind: 'text', text }, setBy: 'mirror', setAt: updatedAt };
  checkBelief(body, { stored, changedAt: updatedAt, clearedBy: null });
  await setColumn(tx, subject, field, value);
}

/** Takes a value away for a caller who may change its subject; where there is none it is taken away already. */
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
  if (field.mirrors_column !== null) return writeColumn(tx, target, field, null, body);
  const standing = await readStanding(tx, subject, field.id);
  checkBelief(body, standing);
  if (standing.stored === null) return;
  await storeValue(tx, {
    subject,
    fieldId: field.id,
    before: standing.stored,
    after: null,
    setBy: setByOf(caller),
    userRef: caller.ref,
  });
}

/** The one value that was just written; 409 when meanwhile the asset it names went out of the writer's sight. */
export function theOne(values: readonly FieldValue[]): FieldValue {
  const [value] = values;
  if (value === undefined) throw refuse(409, 'it was changed meanwhile');
  return value;
}
