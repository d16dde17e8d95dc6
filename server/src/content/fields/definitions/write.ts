import {
  archiveField,
  createField,
  type FieldCreate,
  type FieldDefinition,
  type FieldUpdate,
  putField,
  setFieldExtraction,
  updateField,
} from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { checkMayGive } from '../../../access/accounts.ts';
import type { SignedIn } from '../../../access/caller.ts';
import type { Deps } from '../../../core/deps.ts';
import { handle } from '../../../core/handle.ts';
import { notifyPeersOfField, notifyPeersOfValues } from '../../../core/outbox/enqueue.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { checkRemovals, patchOf } from '../../../platform/http/patch.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { asksForChange, checkUnchanged, nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { checkNotMerging } from '../run.ts';
import { replaceVocabulary } from '../vocabulary/terms.ts';
import { type Controller, checkCondition } from './condition.ts';
import { checkDefaultsRemainValid, checkGivenDefault } from './defaults.ts';
import { checkFlags } from './flags.ts';
import { readOptions } from './options.ts';
import { showFields } from './read.ts';
import {
  definitionChanged,
  type LockedField,
  lockDefinitions,
  lockField,
  readersChanged,
  wordsChanged,
} from './transaction.ts';

async function showField(db: Database, id: string): Promise<FieldDefinition> {
  const [field] = await showFields(db, sql`d.id = ${id}`);
  if (field === undefined) throw notFound();
  return field;
}

/** FIELD-6: `applies_to` names asset types, and is ignored for collections. */
async function checkTypes(tx: Tx, { subject_kind, applies_to }: LockedField): Promise<void> {
  if (subject_kind === 'collection' || applies_to.length === 0) return;
  const { rows } = await sql<{ ref: number }>`select x.ref from unnest(${applies_to}::integer[]) x (ref)
    where not exists (select from asset_types y where y.ref = x.ref) limit 1`.execute(tx);
  if (rows[0] !== undefined) throw refuse('asset-type-not-found', { type: rows[0].ref });
}

async function checkReplacement(tx: Tx, field: LockedField): Promise<void> {
  const id = field.deprecated_replacement_id;
  if (id === null) return;
  if (id === field.id) throw refuse('replacement-is-itself');
  const { rows } = await sql<{ subject_kind: string }>`
    select subject_kind from fields where id = ${id}`.execute(tx);
  if (rows[0] === undefined) throw refuse('replacement-not-found');
  if (rows[0].subject_kind !== field.subject_kind) {
    throw refuse('replacement-of-other-kind', { kind: rows[0].subject_kind });
  }
  await checkLeadsOn(tx, field, id);
}

/** Throws a 400 when following replacements from the field would lead back to it. */
async function checkLeadsOn(tx: Tx, field: LockedField, replacementId: string): Promise<void> {
  const { rows } = await sql<{ id: string; codes: string[] }>`
    with recursive way (id, next, codes) as (
      select id, deprecated_replacement_id, array[code] from fields where id = ${replacementId}
      union all
      select f.id, f.deprecated_replacement_id, w.codes || f.code
        from way w join fields f on f.id = w.next where w.id <> ${field.id})
      cycle id set is_circle using passed
    select id, codes from way where id = ${field.id}`.execute(tx);
  const [circle] = rows;
  if (circle === undefined) return;
  const codes = [field.code, ...circle.codes].join(' > ');
  throw refuse('replacement-in-cycle', { cycle: codes });
}

async function checkGivenCondition(tx: Tx, field: LockedField): Promise<void> {
  if (field.display_condition === null) return;
  const { rows } = await sql<Controller>`
    select code, type, subject_kind, status, display_condition from fields`.execute(tx);
  checkCondition(field, field.display_condition, new Map(rows.map((row) => [row.code, row])));
}

/** Creates a field for a caller who is allowed to; 409 when the code is taken, 400 when properties conflict. */
export async function createDefinition(
  tx: Tx,
  caller: SignedIn,
  body: FieldCreate,
): Promise<FieldDefinition> {
  const { rest, vocabulary } = readOptions(body.type, body.options ?? {});
  await lockDefinitions(tx);
  const row = await tx
    .insertInto('fields')
    .values({
      code: body.code,
      label: body.label,
      type: body.type,
      options: JSON.stringify(rest),
      description: body.description ?? '',
      subject_kind: body.subject_kind ?? 'asset',
      open_vocabulary: body.open_vocabulary ?? false,
      required: body.required ?? false,
      searchable: body.searchable ?? true,
      applies_to: [...new Set(body.applies_to ?? [])],
      read_capability: body.read_capability ?? null,
      write_capability: body.write_capability ?? null,
      display_order: body.display_order ?? 100,
      display_group: body.display_group ?? 'general',
    })
    .onConflict((conflict) => conflict.column('code').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw refuse('field-code-taken', { code: body.code });
  const made = await lockField(tx, row.id);
  checkFlags(made);
  await checkTypes(tx, made);
  if (vocabulary !== undefined) await replaceVocabulary(tx, row.id, vocabulary);
  if (body.default_value !== undefined) {
    const checked = await checkGivenDefault(tx, caller, made, body.default_value);
    await tx
      .updateTable('fields')
      .set({ default_value: JSON.stringify(checked) })
      .where('id', '=', row.id)
      .execute();
  }
  await definitionChanged(tx);
  await recordEvent(tx, caller, {
    event: 'field.created',
    target: { kind: 'field', id: row.id },
    metadata: { code: body.code, type: body.type },
  });
  return showField(tx, row.id);
}

export const create = handle(createField, async ({ db }, { caller, body }) => ({
  status: 201,
  body: await db.transaction().execute((tx) => createDefinition(tx, caller, body)),
}));

const removable = [
  'default_value',
  'edit_tab',
  'regexp_filter',
  'display_condition',
  'read_capability',
  'write_capability',
  'deprecated_replacement_id',
] as const;

/** The properties that an update sets as they are. */
const plain = [
  'label',
  'translations',
  'description',
  'open_vocabulary',
  'required',
  'searchable',
  'read_capability',
  'write_capability',
  'display_order',
  'display_group',
  'extraction_source',
  'extraction_mode',
  'show_on_card',
  'show_in_advanced_search',
  'show_on_upload',
  'edit_tab',
  'read_only',
  'regexp_filter',
  'display_condition',
  'status',
  'deprecated_replacement_id',
] as const;

/** The definition after the update, without options and default. */
function after(body: FieldUpdate, before: LockedField): LockedField {
  const field = { ...before, ...patchOf(body, plain) };
  return {
    ...field,
    applies_to: body.applies_to == null ? before.applies_to : [...new Set(body.applies_to)],
    // FIELD-19: an empty pattern removes the constraint.
    regexp_filter: field.regexp_filter === '' ? null : field.regexp_filter,
  };
}

/** Throws 403 when a capability that the caller lacks would no longer protect the field's values (FIELD-10). */
function checkMayOpen(caller: SignedIn, before: LockedField, field: LockedField): void {
  for (const property of ['read_capability', 'write_capability'] as const) {
    const code = before[property];
    if (code !== null && code !== field[property]) checkMayGive(caller, [code]);
  }
}

/** The properties that decide whose searches find the field's words. */
const gates = ['read_capability', 'status', 'applies_to'] as const;

async function writeColumns(tx: Tx, field: LockedField): Promise<void> {
  const { id, code, type, subject_kind, mirrors_column, created_at, updated_at, ...columns } = field;
  await tx
    .updateTable('fields')
    .set({
      ...columns,
      translations: JSON.stringify(field.translations),
      options: JSON.stringify(field.options),
      default_value: field.default_value === null ? null : JSON.stringify(field.default_value),
      updated_at: nextUpdatedAt,
    })
    .where('id', '=', id)
    .execute();
}

/** Changes a field for a caller who is allowed to; throws the errors that `updateField` declares. */
export async function changeDefinition(
  tx: Tx,
  caller: SignedIn,
  id: string,
  body: FieldUpdate,
): Promise<FieldDefinition> {
  checkRemovals(body, removable);
  await lockDefinitions(tx);
  const before = await lockField(tx, id);
  checkUnchanged(body.if_unchanged_since, before.updated_at);
  if (!asksForChange(body)) return showField(tx, before.id);
  const field = after(body, before);
  const options = body.options == null ? null : readOptions(field.type, body.options);
  if (options !== null) field.options = options.rest;
  checkFlags(field);
  checkMayOpen(caller, before, field);
  if (body.applies_to != null) await checkTypes(tx, field);
  if (body.deprecated_replacement_id != null) await checkReplacement(tx, field);
  if (body.display_condition != null) await checkGivenCondition(tx, field);
  if (options?.vocabulary !== undefined) {
    await checkNotMerging(tx, field.id, null);
    await replaceVocabulary(tx, field.id, options.vocabulary);
  }
  if (body.clear_default === true) field.default_value = null;
  else if (body.default_value != null)
    field.default_value = await checkGivenDefault(tx, caller, field, body.default_value);
  if (body.options != null) await checkDefaultsRemainValid(tx, field);
  await writeColumns(tx, field);
  const wordsDiffer = body.options != null || field.searchable !== before.searchable;
  if (gates.some((name) => field[name] !== before[name])) await readersChanged(tx, field.id);
  else if (wordsDiffer) await wordsChanged(tx, field.id, caller.ref);
  else await definitionChanged(tx);
  await notifyPeersOfField(tx, field.id, caller.ref);
  // FED-60: peers have no values that not everyone may read.
  if (field.read_capability !== before.read_capability || field.status !== before.status)
    await notifyPeersOfValues(tx, field.id, caller.ref);
  await recordEvent(tx, caller, {
    event: 'field.updated',
    target: { kind: 'field', id: field.id },
    metadata: {
      code: field.code,
      changed: Object.keys(body).filter((key) => key !== 'if_unchanged_since'),
    },
  });
  return showField(tx, field.id);
}

function change(
  { db }: Deps,
  { caller, params, body }: { caller: SignedIn; params: { id: string }; body: FieldUpdate },
): Promise<FieldDefinition> {
  return db.transaction().execute((tx) => changeDefinition(tx, caller, params.id, body));
}

export const update = handle(updateField, async (deps, request) => ({
  status: 200,
  body: await change(deps, request),
}));

/** FIELD-5: PUT equals PATCH. */
export const put = handle(putField, async (deps, request) => ({
  status: 200,
  body: await change(deps, request),
}));

/** Archives a field. Its values stay, and an update can activate it again. */
export const archive = handle(archiveField, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await lockDefinitions(tx);
    const field = await lockField(tx, params.id);
    if (field.status === 'archived') return;
    await tx
      .updateTable('fields')
      .set({ status: 'archived', updated_at: nextUpdatedAt })
      .where('id', '=', field.id)
      .execute();
    await readersChanged(tx, field.id);
    await notifyPeersOfValues(tx, field.id, caller.ref);
    await recordEvent(tx, caller, {
      event: 'field.archived',
      target: { kind: 'field', id: field.id },
      metadata: { code: field.code },
    });
  });
  return { status: 204 };
});

/** FIELD-38: an empty source turns extraction off and changes nothing else. */
export const configureExtraction = handle(setFieldExtraction, async ({ db }, { caller, params, body }) => {
  const field = await db.transaction().execute(async (tx) => {
    await lockDefinitions(tx);
    const before = await lockField(tx, params.id);
    const fallback = body.source === '' ? before.extraction_mode : 'skip_if_set';
    const mode = body.mode === undefined || body.mode === '' ? fallback : body.mode;
    checkFlags({ ...before, extraction_source: body.source });
    await tx
      .updateTable('fields')
      .set({ extraction_source: body.source, extraction_mode: mode, updated_at: nextUpdatedAt })
      .where('id', '=', before.id)
      .execute();
    await definitionChanged(tx);
    await recordEvent(tx, caller, {
      event: 'field.extraction.configured',
      target: { kind: 'field', id: before.id },
      metadata: { code: before.code, source: body.source, mode },
    });
    return showField(tx, before.id);
  });
  return { status: 200, body: field };
});
