import type { TermStatus } from '@vitrine/contract/vocabulary';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';
import { type Entry, termKey } from './vocabulary.ts';

/** Rows of terms as they are written, under the lock of their field. `first` is the position of the first one. */
async function upsertTerms(tx: Tx, fieldId: string, entries: readonly Entry[], first: number): Promise<void> {
  const rows = entries.map(({ value, label, status, replacedBy, parent, path }, index) => ({
    value,
    label,
    status,
    replaced_by: replacedBy,
    parent,
    path,
    position: first + index,
  }));
  await sql`insert into field_terms as t (field_id, value, label, status, replaced_by, parent, path, position)
    select ${fieldId}::uuid, x.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (value text, label text,
      status text, replaced_by text, parent text, path text[], position double precision)
    on conflict (field_id, value) do update set label = excluded.label, status = excluded.status,
      replaced_by = excluded.replaced_by, parent = excluded.parent, path = excluded.path, position = excluded.position
    where (t.label, t.status, t.replaced_by, t.parent, t.path, t.position) is distinct from (excluded.label,
      excluded.status, excluded.replaced_by, excluded.parent, excluded.path, excluded.position)`.execute(tx);
}

async function insertAliases(tx: Tx, fieldId: string, entries: readonly Entry[]): Promise<void> {
  const pairs = entries.flatMap(({ value, aliases }) => aliases.map((alias) => ({ alias, value })));
  if (pairs.length === 0) return;
  await sql`insert into field_term_aliases (field_id, alias, value)
    select ${fieldId}::uuid, x.alias, x.value
    from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as x (alias text, value text)`.execute(tx);
}

/** Whether a value somewhere, of an asset or a collection, is this term: alias `t`. */
const inUse: RawBuilder<boolean> = sql`(exists (select from asset_field_values v
    where v.field_id = t.field_id and left(v.value_text, 100) = t.value)
  or exists (select from asset_field_values v where v.field_id = t.field_id and v.value_options @> array[t.value])
  or exists (select from collection_field_values v
    where v.field_id = t.field_id and left(v.value_text, 100) = t.value)
  or exists (select from collection_field_values v
    where v.field_id = t.field_id and v.value_options @> array[t.value]))`;

/** Makes the vocabulary of a field what a document says. A term that values use cannot be left out of it. */
export async function replaceVocabulary(tx: Tx, fieldId: string, entries: readonly Entry[]): Promise<void> {
  const kept = entries.map(({ value }) => value);
  const { rows } = await sql<{ value: string; in_use: boolean }>`
    select t.value, ${inUse} as in_use from field_terms t
    where t.field_id = ${fieldId} and t.value <> all(${kept}::text[])`.execute(tx);
  const used = rows.find((row) => row.in_use);
  if (used !== undefined) {
    throw refuse(
      400,
      `options: values use "${used.value}"; deprecate, archive or merge it instead of leaving it out`,
    );
  }
  await sql`delete from field_term_aliases where field_id = ${fieldId}`.execute(tx);
  await upsertTerms(tx, fieldId, entries, 0);
  const gone = rows.map(({ value }) => value);
  await sql`delete from field_terms where field_id = ${fieldId} and value = any(${gone}::text[])`.execute(tx);
  await insertAliases(tx, fieldId, entries);
}

/** Adds terms behind those there are. */
export async function appendTerms(tx: Tx, fieldId: string, entries: readonly Entry[]): Promise<void> {
  const { rows } = await sql<{ next: number }>`
    select coalesce(max(position), -1) + 1 as next from field_terms where field_id = ${fieldId}`.execute(tx);
  await upsertTerms(tx, fieldId, entries, rows[0]?.next ?? 0);
  await insertAliases(tx, fieldId, entries);
}

interface Keys {
  values: readonly string[];
  labels: readonly string[];
  aliases: readonly string[];
  /** The term that is being changed, whose own row does not count. */
  except: string | null;
}

/** Throws when a key of terms to come is taken: an alias by anything, a slug or a label by an alias. */
export async function checkKeysAreFree(tx: Tx, fieldId: string, keys: Keys): Promise<void> {
  const named = [...keys.values, ...keys.labels.map(termKey)];
  const { rows } = await sql<{ kind: string; key: string; value: string }>`
    select 'is an alias of' as kind, x.alias as key, x.value from field_term_aliases x
      where x.field_id = ${fieldId} and x.alias = any(${named}::text[]) and x.value is distinct from ${keys.except}
    union all
    select 'is an alias of', x.alias, x.value from field_term_aliases x
      where x.field_id = ${fieldId} and x.alias = any(${[...keys.aliases]}::text[])
        and x.value is distinct from ${keys.except}
    union all
    select 'is the value of', t.value, t.value from field_terms t
      where t.field_id = ${fieldId} and t.value = any(${[...keys.aliases]}::text[])
    union all
    select 'is the label of', lower(t.label), t.value from field_terms t
      where t.field_id = ${fieldId} and lower(t.label) = any(${[...keys.aliases]}::text[])
        and t.value is distinct from ${keys.except}
    limit 1`.execute(tx);
  const clash = rows[0];
  if (clash !== undefined) throw refuse(400, `terms: "${clash.key}" ${clash.kind} "${clash.value}"`);
}

/** The status of each of these slugs that is a term of the field. */
export async function statusOfTerms(
  db: Database,
  fieldId: string,
  slugs: readonly string[],
): Promise<Map<string, TermStatus>> {
  if (slugs.length === 0) return new Map();
  const { rows } = await sql<{ value: string; status: TermStatus }>`
    select value, status from field_terms
    where field_id = ${fieldId} and value = any(${[...slugs]}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.value, row.status]));
}

/** Those of these slugs that have narrower terms, other than archived ones. */
export async function branchesAmong(
  db: Database,
  fieldId: string,
  slugs: readonly string[],
): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const { rows } = await sql<{ parent: string }>`
    select distinct parent from field_terms
    where field_id = ${fieldId} and parent = any(${[...slugs]}::text[]) and status <> 'archived'`.execute(db);
  return new Set(rows.map(({ parent }) => parent));
}

export async function countVocabulary(db: Database, fieldId: string): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select count(*) as size from field_terms where field_id = ${fieldId}`.execute(db);
  return rows[0]?.size ?? 0;
}
