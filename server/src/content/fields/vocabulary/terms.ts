import { foldName } from '@vitrine/contract/names';
import type { Term, TermStatus } from '@vitrine/contract/vocabulary';
import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';

/** One term of a vocabulary (TERM-1), in document order. */
export interface Entry {
  value: string;
  /** The slug itself when the document gives no label. */
  label: string;
  /** The label in other languages, by their tags. */
  translations: NonNullable<Term['translations']>;
  status: TermStatus;
  replacedBy: string | null;
  /** In the form of `lowerCased`. */
  aliases: readonly string[];
  parent: string | null;
  /** Slugs from the root to the term itself. */
  path: readonly string[];
}

/** The greatest number of terms in a vocabulary. */
export const MOST_TERMS = 200_000;

/** The form in which labels and aliases are compared and indexed (NAME-8). */
export function termKey(text: string): string {
  return foldName(text.trim());
}

/** The form in which aliases are stored and shown, and that of slugs: NFC, trimmed, lower case. */
export function lowerCased(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** Returns the keys by which searches find the translations of a label, each between line breaks. */
export function translationKeys(translations: Entry['translations']): string {
  const keys = Object.values(translations).map(termKey);
  return keys.length === 0 ? '' : `\n${keys.join('\n')}\n`;
}

/** A text that should name a term of a field. */
export interface Named {
  fieldId: string;
  text: string;
}

/** The term that a text names, after following aliases and tombstones (TERM-3, TERM-4); null when there is none. */
export type Match = { value: string; status: TermStatus; isLeaf: boolean } | null;

/** The greatest number of successors that a lookup follows. */
const LONGEST_CHAIN = 50;

interface MatchRow {
  place: number;
  value: string;
  status: TermStatus;
  is_leaf: boolean;
}

/**
 * Resolves each text to a slug, else a label, else an alias, ignoring case and outer blanks. A tombstone resolves to
 * its successor. Uses one statement.
 */
export async function matchTerms(db: Database, named: readonly Named[]): Promise<Match[]> {
  if (named.length === 0) return [];
  const { rows } = await sql<MatchRow>`
    with recursive asked as (
      select q.place, q.field_id, q.key, q.slug, q.text
      from unnest(${named.map(({ fieldId }) => fieldId)}::uuid[], ${named.map(({ text }) => termKey(text))}::text[],
        ${named.map(({ text }) => lowerCased(text))}::text[], ${named.map(({ text }) => text.trim())}::text[])
        with ordinality as q (field_id, key, slug, text, place)
    ), matched as (
      select distinct on (q.place) q.place, q.field_id, m.value
      from asked q, lateral (
        select t.value, 1 as rank, t.status, t.position from field_terms t
          where t.field_id = q.field_id and t.value = any(array[q.slug, q.text])
        union all
        select t.value, 2, t.status, t.position from field_terms t
          where t.field_id = q.field_id and t.label_key = q.key
        union all
        select l.value, 3, 'active', 0 from field_term_aliases l
          where l.field_id = q.field_id and l.key = q.key) m
      order by q.place, m.rank, m.status, m.position, m.value
    ), followed as (
      select m.place, t.field_id, t.value, t.status, t.replaced_by, 0 as steps
      from matched m join field_terms t on t.field_id = m.field_id and t.value = m.value
      union all
      select f.place, t.field_id, t.value, t.status, t.replaced_by, f.steps + 1
      from followed f join field_terms t on t.field_id = f.field_id and t.value = f.replaced_by
      where f.status = 'archived' and f.steps < ${LONGEST_CHAIN}
    )
    select distinct on (f.place) f.place, f.value, f.status, not exists (select from field_terms c
      where c.field_id = f.field_id and c.parent = f.value and c.status <> 'archived') as is_leaf
    from followed f order by f.place, f.steps desc`.execute(db);
  const byPlace = new Map(
    rows.map(({ place, value, status, is_leaf }) => [place, { value, status, isLeaf: is_leaf }]),
  );
  return named.map((_, index) => byPlace.get(index + 1) ?? null);
}

/** Whether a label of this text would be invisible. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Z}\p{Cc}\p{Cf}]*$/u.test(text);
}

/**
 * Converts a label to a slug: letters and digits of any script, Latin letters without accents, hyphens for all else.
 */
function slugOf(label: string): string {
  const plain = label
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '');
  const short = Array.from(plain)
    .slice(0, 90)
    .join('')
    .slice(0, 90)
    .toWellFormed()
    .replace(/[-\ufffd]+$/, '');
  return short === '' ? 'term' : short;
}

/**
 * Creates a term for each text (TERM-8): the text becomes the label, its slug the value. The caller has checked that
 * no term matches, and holds the lock of the field's row so that concurrent writers create one term. Returns the
 * slugs by text; null, without creating any, when the vocabulary has no room for all of them.
 */
export async function createTerms(
  tx: Tx,
  fieldId: string,
  texts: readonly string[],
): Promise<Map<string, string> | null> {
  const labels = new Map<string, string>();
  for (const text of texts) {
    const key = termKey(text);
    if (!labels.has(key)) labels.set(key, text.normalize('NFC').trim());
  }
  const slugs = [...labels.values()].map(slugOf);
  const keys = slugs.map(foldName);
  const numbered = (texts: readonly string[]) => texts.map((text) => `${text}-%`);
  const { rows } = await sql<{ value: string }>`
    select value from field_terms where field_id = ${fieldId}
      and (value = any(${slugs}::text[]) or value like any(${numbered(slugs)}::text[]))
    union all
    -- Slugs take precedence over labels, so a new term must not use another term's label as its slug.
    select label_key from field_terms where field_id = ${fieldId}
      and (label_key = any(${keys}::text[]) or label_key like any(${numbered(keys)}::text[]))
    union all
    -- TERM-8: the slug of a new term must not equal an alias.
    select key from field_term_aliases where field_id = ${fieldId}
      and (key = any(${keys}::text[]) or key like any(${numbered(keys)}::text[]))`.execute(tx);
  const { rows: sizes } = await sql<{ size: number; last: number }>`
    select count(*) as size, coalesce(max(position), 0) as last from field_terms
    where field_id = ${fieldId}`.execute(tx);
  const { size, last } = sizes[0] ?? { size: 0, last: 0 };
  if (size + labels.size > MOST_TERMS) return null;
  const taken = new Set(rows.map(({ value }) => foldName(value)));
  const made = new Map<string, string>();
  // A label that equals its slug takes that slug before other labels do: of `C++` and `C`, the latter becomes `c`.
  const isItsSlug = ([, label]: [string, string]) => slugOf(label) === lowerCased(label);
  for (const [key, label] of [...labels].sort((a, b) => Number(isItsSlug(b)) - Number(isItsSlug(a)))) {
    const wanted = slugOf(label);
    let slug = wanted;
    // Another term may have that slug with another label, as `C` and `C++` do.
    for (let number = 2; taken.has(foldName(slug)); number += 1) slug = `${wanted}-${number}`;
    taken.add(foldName(slug));
    made.set(key, slug);
  }
  const places = [...labels.keys()].map((key) => made.get(key) ?? '');
  await sql`insert into field_terms (field_id, value, label, label_key, path, position)
    select ${fieldId}, t.value, t.label, t.key, array[t.value], ${last} + t.place
    from unnest(${places}::text[], ${[...labels.values()]}::text[], ${[...labels.keys()]}::text[])
      with ordinality as t (value, label, key, place)
    on conflict (field_id, value) do nothing`.execute(tx);
  return new Map(texts.map((text) => [text, made.get(termKey(text)) ?? '']));
}

/**
 * Inserts or updates rows of terms; the caller holds the lock of their field. `first` is the position of the first
 * one.
 */
async function upsertTerms(tx: Tx, fieldId: string, entries: readonly Entry[], first: number): Promise<void> {
  const rows = entries.map(({ value, label, translations, status, replacedBy, parent, path }, index) => ({
    value,
    label,
    label_key: termKey(label),
    translations,
    translation_keys: translationKeys(translations),
    status,
    replaced_by: replacedBy,
    parent,
    path,
    position: first + index,
  }));
  await sql`insert into field_terms as t (field_id, value, label, label_key, translations,
      translation_keys, status, replaced_by, parent, path, position)
    select ${fieldId}::uuid, x.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (value text, label text,
      label_key text, translations jsonb, translation_keys text, status text, replaced_by text, parent text, path text[], position double precision)
    on conflict (field_id, value) do update set label = excluded.label, label_key = excluded.label_key,
      translations = excluded.translations, translation_keys = excluded.translation_keys, status = excluded.status,
      replaced_by = excluded.replaced_by, parent = excluded.parent, path = excluded.path, position = excluded.position
    where (t.label, t.translations, t.status, t.replaced_by, t.parent, t.path, t.position) is distinct from (excluded.label,
      excluded.translations, excluded.status, excluded.replaced_by, excluded.parent, excluded.path, excluded.position)`.execute(
    tx,
  );
}

/** Inserts aliases, whose keys no other term of the field has. */
export async function insertAliases(
  tx: Tx,
  fieldId: string,
  entries: readonly Pick<Entry, 'value' | 'aliases'>[],
): Promise<void> {
  const pairs = entries.flatMap(({ value, aliases }) =>
    aliases.map((alias) => ({ alias, key: termKey(alias), value })),
  );
  if (pairs.length === 0) return;
  await sql`insert into field_term_aliases (field_id, alias, key, value)
    select ${fieldId}::uuid, x.alias, x.key, x.value
    from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as x (alias text, key text, value text)`.execute(
    tx,
  );
}

/** Whether any value of an asset or a collection uses the term `t`. */
const inUse: RawBuilder<boolean> = sql`(exists (select from asset_field_values v
    where v.field_id = t.field_id and left(v.value_text, 100) = t.value)
  or exists (select from asset_field_values v where v.field_id = t.field_id and v.value_options @> array[t.value])
  or exists (select from collection_field_values v
    where v.field_id = t.field_id and left(v.value_text, 100) = t.value)
  or exists (select from collection_field_values v
    where v.field_id = t.field_id and v.value_options @> array[t.value]))`;

/** Replaces the vocabulary of a field by a document. Throws a 400 when the document omits a term in use. */
export async function replaceVocabulary(tx: Tx, fieldId: string, entries: readonly Entry[]): Promise<void> {
  const kept = entries.map(({ value }) => value);
  const { rows } = await sql<{ value: string; in_use: boolean }>`
    select t.value, ${inUse} as in_use from field_terms t
    where t.field_id = ${fieldId} and t.value <> all(${kept}::text[])`.execute(tx);
  const used = rows.find((row) => row.in_use);
  if (used !== undefined) {
    throw refuse('term-in-use', { term: used.value });
  }
  await sql`delete from field_term_aliases where field_id = ${fieldId}`.execute(tx);
  await upsertTerms(tx, fieldId, entries, 0);
  const gone = rows.map(({ value }) => value);
  await sql`delete from field_terms where field_id = ${fieldId} and value = any(${gone}::text[])`.execute(tx);
  await insertAliases(tx, fieldId, entries);
}

/** Appends terms to the vocabulary. */
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
  /** The term that is changing; its own row does not conflict. */
  except: string | null;
}

/** Throws a 400 when a new alias is taken by any term, or a new slug or label by an alias. */
export async function checkKeysAreFree(tx: Tx, fieldId: string, keys: Keys): Promise<void> {
  const named = [...keys.values, ...keys.labels].map(termKey);
  const aliases = keys.aliases.map(termKey);
  const { rows } = await sql<{ kind: 'alias' | 'label' | 'value'; key: string; value: string }>`
    select 'alias' as kind, x.alias as key, x.value from field_term_aliases x
      where x.field_id = ${fieldId} and x.key = any(${[...named, ...aliases]}::text[])
        and x.value is distinct from ${keys.except}
    union all
    select 'value', t.value, t.value from field_terms t
      where t.field_id = ${fieldId} and t.value = any(${[...keys.aliases, ...aliases]}::text[])
    union all
    select 'label', lower(t.label), t.value from field_terms t
      where t.field_id = ${fieldId} and t.label_key = any(${aliases}::text[])
        and t.value is distinct from ${keys.except}
    limit 1`.execute(tx);
  const clash = rows[0];
  if (clash !== undefined) throw refuse(`term-is-${clash.kind}`, { name: clash.key, term: clash.value });
}

/** Returns the status of those slugs that are terms of the field. */
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

/** Returns those slugs whose terms have narrower terms that are not archived. */
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
