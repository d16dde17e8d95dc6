import { isNested } from '@vitrine/contract/field-types';
import { addFieldTerms, type Term, updateFieldTerm } from '@vitrine/contract/vocabulary';
import { sql } from 'kysely';
import { handle } from '../../../core/handle.ts';
import { notifyPeersOfField } from '../../../core/outbox/enqueue.ts';
import { recordEvent } from '../../../people/audit/record.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { patchOf } from '../../../platform/http/patch.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { asksForChange, nextUpdatedAt } from '../../../platform/http/unchanged.ts';
import { checkDefaultsRemainValid } from '../definitions/defaults.ts';
import {
  definitionChanged,
  type LockedField,
  lockVocabulary,
  wordsChanged,
} from '../definitions/transaction.ts';
import { checkNotMerging } from '../run.ts';
import {
  checkKeys,
  checkReplacements,
  DEEPEST_TERM,
  readAddedTerm,
  readAliases,
  replacedByItself,
} from './document.ts';
import { showTerm, type TermRow, termColumns } from './list.ts';
import {
  appendTerms,
  checkKeysAreFree,
  countVocabulary,
  type Entry,
  insertAliases,
  MOST_TERMS,
  statusOfTerms,
  termKey,
  translationKeys,
} from './terms.ts';

type Added = string | { value: string; parent?: string; replaced_by?: string };

/** Returns the paths of those slugs that are terms already. */
async function pathsOf(tx: Tx, fieldId: string, slugs: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ value: string; path: string[] }>`
    select value, path from field_terms where field_id = ${fieldId} and value = any(${[...slugs]}::text[])`.execute(
    tx,
  );
  return new Map(rows.map((row) => [row.value, row.path]));
}

const parentOf = (term: Added) => (typeof term === 'string' ? undefined : term.parent?.normalize('NFC'));

/** Reads terms to add. A parent must exist or precede its children in the request. */
async function readAdded(tx: Tx, field: LockedField, terms: readonly Added[]): Promise<Entry[]> {
  const paths: Map<string, readonly string[]> = await pathsOf(
    tx,
    field.id,
    terms.flatMap((term) => parentOf(term) ?? []),
  );
  return terms.map((term) => {
    const parent = parentOf(term);
    const path = parent === undefined ? undefined : paths.get(parent);
    if (parent !== undefined && path === undefined) throw refuse('parent-not-found-before', { parent });
    const { parent: _, ...own } = typeof term === 'string' ? { value: term } : term;
    const above = parent === undefined || path === undefined ? null : { value: parent, path };
    const entry = readAddedTerm(field.type, own, above);
    paths.set(entry.value, entry.path);
    return entry;
  });
}

/** Throws a 400 unless each successor of a new term exists or is itself new, and none leads back to a new term. */
async function checkSuccessors(tx: Tx, fieldId: string, entries: readonly Entry[]): Promise<void> {
  const named = entries.flatMap(({ replacedBy }) => replacedBy ?? []);
  const statuses = await statusOfTerms(tx, fieldId, named);
  const successors = new Map<string, string | null>([...statuses.keys()].map((value) => [value, null]));
  for (const { value, replacedBy } of entries) successors.set(value, replacedBy);
  checkReplacements(successors);
}

async function touch(tx: Tx, fieldId: string): Promise<void> {
  await tx.updateTable('fields').set({ updated_at: nextUpdatedAt }).where('id', '=', fieldId).execute();
}

export const add = handle(addFieldTerms, async ({ db }, { caller, params, body }) => {
  const answer = await db.transaction().execute(async (tx) => {
    const field = await lockVocabulary(tx, params.id);
    const entries = await readAdded(tx, field, body.terms);
    checkKeys(entries);
    const values = entries.map(({ value }) => value);
    const [taken] = await statusOfTerms(tx, field.id, values);
    if (taken !== undefined) throw refuse('term-exists', { term: taken[0] });
    await checkSuccessors(tx, field.id, entries);
    await checkKeysAreFree(tx, field.id, {
      values,
      labels: entries.map(({ label }) => label),
      aliases: entries.flatMap(({ aliases }) => aliases),
      except: null,
    });
    const size = (await countVocabulary(tx, field.id)) + entries.length;
    if (size > MOST_TERMS) throw refuse('too-many-terms', { max: MOST_TERMS });
    await appendTerms(tx, field.id, entries);
    if (entries.some(({ parent }) => parent !== null)) await checkDefaultsRemainValid(tx, field);
    await touch(tx, field.id);
    await recordEvent(tx, caller, {
      event: 'field.terms.added',
      target: { kind: 'field', id: field.id },
      metadata: { code: field.code, count: entries.length },
    });
    return { added: entries.length, vocabulary_size: size };
  });
  return { status: 201, body: answer };
});

interface LockedTerm {
  value: string;
  label: string;
  translations: Entry['translations'];
  status: 'active' | 'deprecated' | 'archived';
  replaced_by: string | null;
  parent: string | null;
  path: string[];
}

async function readTerm(tx: Tx, fieldId: string, value: string): Promise<LockedTerm | undefined> {
  const { rows } = await sql<LockedTerm>`
    select value, label, translations, status, replaced_by, parent, path from field_terms
    where field_id = ${fieldId} and value = ${value}`.execute(tx);
  return rows[0];
}

/** Throws a 400 when a successor is missing, is the term itself, or leads back to it. */
async function checkSuccessor(tx: Tx, fieldId: string, value: string, successor: string): Promise<void> {
  if (successor === value) throw refuse('successor-is-itself', { list: 'terms', term: value });
  const { rows } = await sql<{ value: string }>`
    with recursive way (value, replaced_by, step) as (
      select t.value, t.replaced_by, 1 from field_terms t where t.field_id = ${fieldId} and t.value = ${successor}
      union all
      select t.value, t.replaced_by, way.step + 1 from way join field_terms t
        on t.field_id = ${fieldId} and t.value = way.replaced_by)
      cycle value set is_circle using passed
    select value from way order by step`.execute(tx);
  if (rows.length === 0) throw refuse('successor-not-found', { list: 'terms', term: value, successor });
  const way = rows.map((row) => row.value);
  const end = way.indexOf(value);
  if (end !== -1) throw replacedByItself('terms', [value, ...way.slice(0, end)], value);
}

/** Moves a term and its descendants below another parent, or to the top. */
async function moveBelow(tx: Tx, field: LockedField, term: LockedTerm, parent: string | null): Promise<void> {
  if (parent === term.parent) return;
  if (!isNested(field.type)) throw refuse('parents-only-in-trees');
  const above = parent === null ? null : await readTerm(tx, field.id, parent);
  if (above === undefined) throw refuse('parent-not-found', { parent: parent ?? '' });
  if (above?.path.includes(term.value))
    throw refuse('parent-below-itself', { term: term.value, parent: parent ?? '' });
  const path = above?.path ?? [];
  const old = term.path.length;
  const { rows } = await sql<{ depth: number }>`
    select max(depth) as depth from field_terms
    where field_id = ${field.id} and path @> array[${term.value}]`.execute(tx);
  if (path.length + 1 + (rows[0]?.depth ?? old) - old > DEEPEST_TERM) {
    throw refuse('terms-too-deep', { max: DEEPEST_TERM });
  }
  // Appends it to its new siblings until the client sets a position.
  const behindAll = sql`(select max(position) + 1 from field_terms where field_id = ${field.id})`;
  await sql`update field_terms set path = ${path}::text[] || path[${old}::integer:],
      parent = case when value = ${term.value} then ${parent} else parent end,
      position = case when value = ${term.value} then ${behindAll} else position end
    where field_id = ${field.id} and path @> array[${term.value}]`.execute(tx);
}

/** Moves a term between two siblings. Renumbers all siblings when no position is left between the two. */
async function place(tx: Tx, fieldId: string, value: string, index: number): Promise<void> {
  const siblings = sql`field_terms s, field_terms t
    where t.field_id = ${fieldId} and t.value = ${value} and s.field_id = t.field_id
      and s.parent is not distinct from t.parent and s.value <> t.value`;
  const { rows } = await sql<{ position: number }>`
    select s.position from ${siblings} order by s.position, s.value
    offset ${Math.max(index - 1, 0)} limit ${index === 0 ? 1 : 2}`.execute(tx);
  const [before, after] = index === 0 ? [undefined, rows[0]] : [rows[0], rows[1]];
  const last = sql<number>`(select coalesce(max(s.position), 0) + 1 from ${siblings})`;
  const low = before?.position ?? (after === undefined ? null : after.position - 2);
  const high = after?.position ?? (low === null ? null : low + 2);
  const middle = low === null || high === null ? null : (low + high) / 2;
  const fits = middle !== null && low !== null && high !== null && low < middle && middle < high;
  if (middle !== null && !fits) {
    await sql`update field_terms u set position = x.place from (
        select s.value, row_number() over (order by s.position, s.value) as place from ${siblings}) x
      where u.field_id = ${fieldId} and u.value = x.value`.execute(tx);
    return place(tx, fieldId, value, index);
  }
  await sql`update field_terms set position = ${middle ?? last}
    where field_id = ${fieldId} and value = ${value}`.execute(tx);
}

async function showOne(db: Database, fieldId: string, value: string): Promise<Term> {
  const { rows } = await sql<TermRow>`
    select ${termColumns} from field_terms t where t.field_id = ${fieldId} and t.value = ${value}`.execute(
    db,
  );
  if (rows[0] === undefined) throw notFound();
  return showTerm(rows[0]);
}

/** Returns a slug that a client names as it is stored (TERM-6); null and undefined stay. */
function composed<S extends string | null | undefined>(slug: S): S | string {
  return typeof slug === 'string' ? slug.normalize('NFC') : slug;
}

export const change = handle(updateFieldTerm, async ({ db }, { caller, params, body }) => {
  const named = patchOf(body, ['replaced_by', 'parent']);
  const [givenSuccessor, parent] = [composed(named.replaced_by), composed(named.parent)];
  const answer = await db.transaction().execute(async (tx) => {
    const field = await lockVocabulary(tx, params.id);
    const term = await readTerm(tx, field.id, composed(params.value));
    if (term === undefined) throw notFound();
    const { value } = term;
    if (!asksForChange(body)) return showOne(tx, field.id, value);
    await checkNotMerging(tx, field.id, value);
    const label = body.label?.normalize('NFC').trim() ?? term.label;
    const translations = body.translations ?? term.translations;
    const status = body.status ?? term.status;
    const successor = givenSuccessor === undefined ? term.replaced_by : givenSuccessor;
    if (successor !== null && status === 'active')
      throw refuse('successor-of-active', { list: 'terms', term: value });
    if (successor !== null && successor !== term.replaced_by)
      await checkSuccessor(tx, field.id, value, successor);
    const isPlaced = parent !== undefined;
    const aliases = body.aliases == null ? null : readAliases(value, body.aliases);
    if (body.label != null || aliases !== null) await renameKeys(tx, field.id, { ...term, label }, aliases);
    await tx
      .updateTable('field_terms')
      .set({
        label,
        label_key: termKey(label),
        translations: JSON.stringify(translations),
        translation_keys: translationKeys(translations),
        status,
        replaced_by: successor,
      })
      .where('field_id', '=', field.id)
      .where('value', '=', value)
      .execute();
    if (isPlaced) await moveBelow(tx, field, term, parent);
    if (body.position != null) await place(tx, field.id, value, body.position);
    if (isPlaced || status !== term.status) await checkDefaultsRemainValid(tx, field);
    await touch(tx, field.id);
    // Search documents contain names only, not positions or statuses.
    const isSearched = label !== term.label || aliases !== null || body.translations != null;
    await (isSearched ? wordsChanged(tx, field.id, caller.ref) : definitionChanged(tx));
    await notifyPeersOfField(tx, field.id, caller.ref);
    await recordEvent(tx, caller, {
      event: 'field.term.updated',
      target: { kind: 'field', id: field.id },
      metadata: { code: field.code, value, changed: Object.keys(body) },
    });
    return showOne(tx, field.id, value);
  });
  return { status: 200, body: answer };
});

/** Checks the term's label and aliases against all other terms, and replaces the aliases if new ones are given. */
async function renameKeys(
  tx: Tx,
  fieldId: string,
  term: LockedTerm,
  aliases: readonly string[] | null,
): Promise<void> {
  const { rows } = await sql<{ alias: string }>`
    select alias from field_term_aliases where field_id = ${fieldId} and value = ${term.value}`.execute(tx);
  const own = aliases ?? rows.map(({ alias }) => alias);
  checkKeys([{ ...term, replacedBy: term.replaced_by, aliases: own }]);
  const keys = { values: [], labels: [term.label], aliases: aliases ?? [], except: term.value };
  await checkKeysAreFree(tx, fieldId, keys);
  if (aliases === null) return;
  await sql`delete from field_term_aliases where field_id = ${fieldId} and value = ${term.value}`.execute(tx);
  await insertAliases(tx, fieldId, [{ value: term.value, aliases }]);
}
