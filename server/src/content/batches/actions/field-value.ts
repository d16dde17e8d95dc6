import type { AssetAction } from '@vitrine/contract/batches';
import type { SetBy } from '@vitrine/contract/field-values';
import { type RawBuilder, sql } from 'kysely';
import { appliesToAsset, knownFields, writableFields } from '../../../access/field-values.ts';
import { shownDefinitions } from '../../../access/fields.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { refusalOfPair } from '../../fields/values/pairs.ts';
import { readGiven } from '../../fields/values/read-given.ts';
import { type CallersDefinition, checkContent, checkItems } from '../../fields/values/rules.ts';
import { storeValue } from '../../fields/values/store.ts';
import {
  fromMembers,
  isSame,
  type StoredMembers,
  storedIn,
  type TypedValue,
  termsOf,
  toMembers,
  type ValueColumns,
  withTerms,
} from '../../fields/values/typed-value.ts';
import { checkReferences, resolveTerms, setByOf } from '../../fields/values/write.ts';
import { matchTerms } from '../../fields/vocabulary/terms.ts';
import { type Changed, changeRows, type ReadRow } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refused,
  refusedBy,
  type Step,
  type UndoRecord,
  unchanged,
} from '../step.ts';
import { type HeldField, undoText, writeText } from './column.ts';

interface ValueRow extends ReadRow, ValueColumns {
  known: boolean;
  applies: boolean;
  writable: boolean;
  set_by: SetBy | null;
  set_at: string | null;
}

/** The value before and after; null means none. */
interface ValueRecord {
  before: StoredMembers | null;
  after: StoredMembers | null;
}

/** Only this module writes records of its actions. */
const recordOf = (record: UndoRecord | null) => record as unknown as ValueRecord;

/**
 * Returns the definition of a field of assets that the caller may know of, locked: against new terms by others if the
 * action may create some.
 */
async function holdField({ tx, caller }: Step, fieldId: string, mayCreateTerms: boolean): Promise<HeldField> {
  const { rows } = await sql<HeldField>`
    select d.id, d.code, d.label, d.type, d.options, d.open_vocabulary, d.required, d.read_only, d.regexp_filter,
      d.mirrors_column, d.status, d.write_capability
    from fields d where d.id = ${fieldId} and d.subject_kind = 'asset' and ${shownDefinitions(caller)}
    for ${mayCreateTerms ? sql`no key update` : sql`share`} of d`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw notFound();
  return row;
}

async function write(step: Step, field: HeldField, changed: readonly Changed<ValueRow>[]): Promise<void> {
  const { tx, caller } = step;
  for (const { row, record } of changed) {
    const value = storedIn(row);
    const before =
      value === null || row.set_by === null || row.set_at === null
        ? null
        : { value, setBy: row.set_by, setAt: row.set_at };
    await storeValue(tx, {
      subject: { kind: 'asset', id: row.id },
      fieldId: field.id,
      before,
      after: fromMembers(recordOf(record).after),
      setBy: setByOf(caller),
      userRef: caller.ref,
    });
  }
}

/** Writes the values that `next` returns for each row; it may refuse a row by throwing a Refusal. */
function valueAction(
  step: Step,
  field: HeldField,
  next: (before: TypedValue | null, record: UndoRecord | null) => TypedValue | null | Outcome,
  { clears = false } = {},
): ReturnType<Action> {
  const { caller } = step;
  const columns: RawBuilder<unknown> = sql`${knownFields(caller, 'asset')} as known, ${appliesToAsset} as applies,
    ${writableFields(caller, 'asset')} as writable, v.value_text, v.value_num, v.value_date, v.value_offset,
    v.value_options, v.value_ref, v.set_by, v.set_at`;
  return changeRows<ValueRow>(step, {
    subject: 'asset',
    columns,
    joins: sql`join fields d on d.id = ${field.id}
      left join asset_field_values v on v.asset_id = a.id and v.field_id = d.id`,
    judge(row: ValueRow, record) {
      const refusal = refusalOfPair(field, { ...row, write_capability: field.write_capability }, clears);
      if (refusal !== null) return refused(refusal.sentence);
      const before = storedIn(row);
      let after: TypedValue | null | Outcome;
      try {
        after = next(before, record);
      } catch (error) {
        return refusedBy(error);
      }
      if (after !== null && 'outcome' in after) return after;
      return isSame(before, after)
        ? unchanged
        : { outcome: 'changed', record: { before: toMembers(before), after: toMembers(after) } };
    },
    write: (changed) => write(step, field, changed),
    edited: [field.code],
    properties: () => [],
  });
}

/** Reads and resolves the value that the action gives. */
async function givenValue(step: Step, field: HeldField, action: AssetAction): Promise<TypedValue> {
  const { kind: _, ...members } = action;
  const definition: CallersDefinition = { ...field, applies: true, writable: true };
  const value = readGiven(definition, members);
  checkContent(definition, value);
  const meant = { field: definition, value, before: null };
  await checkReferences(step.tx, step.caller, [meant]);
  const [resolved = value] = await resolveTerms(step.tx, step.caller, [meant]);
  return resolved;
}

/** Appends a value to another of the same field: terms to terms, and text as a new line. */
function joined(before: TypedValue | null, added: TypedValue): TypedValue {
  if (before?.kind === 'options' && added.kind === 'options')
    return { kind: 'options', options: [...new Set([...before.options, ...added.options])] };
  if (before?.kind === 'text' && added.kind === 'text')
    return { kind: 'text', text: `${before.text}\n${added.text}` };
  return added;
}

/** Sets or appends a value of one field. */
export function writeField(fieldId: string, action: AssetAction): Action {
  const appends = action.kind === 'append_field';
  return async (step) => {
    const names = (action.value_options ?? []).length > 0;
    const field = await holdField(step, fieldId, names);
    if (appends && !['multi_select', 'text', 'longtext'].includes(field.type))
      throw refuse('field-not-appendable', { field: field.code });
    const value = await givenValue(step, field, action);
    if (field.mirrors_column !== null && value.kind === 'text')
      return writeText(field.mirrors_column, field, value.text, { appends })(step);
    const definition: CallersDefinition = { ...field, applies: true, writable: true };
    return valueAction(step, field, (before) => {
      const after = appends ? joined(before, value) : value;
      checkContent(definition, after);
      checkItems(definition, after);
      return after;
    });
  };
}

/** Removes the value of one field. */
export function clearField(fieldId: string): Action {
  return async (step) => {
    const field = await holdField(step, fieldId, false);
    return field.mirrors_column === null
      ? valueAction(step, field, () => null, { clears: true })
      : writeText(field.mirrors_column, field, '')(step);
  };
}

/** A former value as it may be written now, or why it may not. */
type Former = TypedValue | null | Outcome;

/** Returns why a reference to the asset may not be written, or null if it may (VALUE-11). */
async function refusalOfReference({ tx, caller }: Step, field: HeldField, value: TypedValue) {
  try {
    await checkReferences(tx, caller, [{ field: { ...field, applies: true }, value }]);
    return null;
  } catch (error) {
    return refusedBy(error);
  }
}

/**
 * Returns the former values of a step by their records: with the successors of terms that have been merged since (TERM-4),
 * and refused where a term or the referenced asset has disappeared.
 */
async function formerValues(step: Step, field: HeldField): Promise<(record: UndoRecord | null) => Former> {
  const values = new Map(step.items.map(({ record }) => [record, fromMembers(recordOf(record).before)]));
  const terms = [...new Set([...values.values()].flatMap((value) => (value ? termsOf(field, value) : [])))];
  const matches = await matchTerms(
    step.tx,
    terms.map((text) => ({ fieldId: field.id, text })),
  );
  const present = new Map(terms.map((term, at) => [term, matches[at]?.value]));
  const refusals = new Map<string, Outcome | null>();
  for (const value of values.values())
    if (value?.kind === 'ref' && !refusals.has(value.ref))
      refusals.set(value.ref, await refusalOfReference(step, field, value));
  return (record) => {
    const value = values.get(record) ?? null;
    if (value === null) return null;
    if (value.kind === 'ref') return refusals.get(value.ref) ?? value;
    const own = termsOf(field, value);
    const gone = own.find((term) => present.get(term) === undefined);
    if (gone !== undefined)
      return refused(refuse('value-term-unknown', { property: field.code, term: gone }).sentence);
    return withTerms(
      value,
      own.map((term) => present.get(term) ?? term),
    );
  };
}

/** Writes the former values again where nobody has changed them since. */
export function undoField(fieldId: string): Action {
  return async (step) => {
    const field = await holdField(step, fieldId, false);
    if (field.mirrors_column !== null) return undoText(field.mirrors_column, field)(step);
    const former = await formerValues(step, field);
    return valueAction(
      step,
      field,
      (current, record) =>
        isSame(current, fromMembers(recordOf(record).after)) ? former(record) : changedSince,
      { clears: true },
    );
  };
}
