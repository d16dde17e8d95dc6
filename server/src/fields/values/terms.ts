import type { TermStatus } from '@vitrine/contract/vocabulary';
import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { MOST_TERMS, termKey } from '../vocabulary.ts';

/** A text that is meant to name a term of a field. */
export interface Named {
  fieldId: string;
  text: string;
}

/** The term a text names, after aliases and tombstones (spec 2.7 rule 1); null when there is none. */
export type Match = { value: string; status: TermStatus; isLeaf: boolean } | null;

/** Successors of successors are followed this far. */
const LONGEST_CHAIN = 50;

interface MatchRow {
  place: number;
  value: string;
  status: TermStatus;
  is_leaf: boolean;
}

/**
 * What each text names: a slug, else a label, else an alias, in any case and with blanks around it; a tombstone
 * names its successor. One statement for all.
 */
export async function matchTerms(db: Database, named: readonly Named[]): Promise<Match[]> {
  if (named.length === 0) return [];
  const { rows } = await sql<MatchRow>`
    with recursive asked as (
      -- As the database writes it in lower case too, which is not everywhere as we do: a label always names its term.
      select q.place, q.field_id, q.name, q.text
      from unnest(${named.map(({ fieldId }) => fieldId)}::uuid[], ${named.map(({ text }) => termKey(text))}::text[],
        ${named.map(({ text }) => text.trim())}::text[]) with ordinality as q (field_id, name, text, place)
    ), matched as (
      select distinct on (q.place) q.place, q.field_id, m.value
      from asked q, lateral (
        select t.value, 1 as rank, t.status, t.position from field_terms t
          where t.field_id = q.field_id and t.value = any(array[q.name, q.text])
        union all
        select t.value, 2, t.status, t.position from field_terms t
          where t.field_id = q.field_id and lower(t.label) = any(array[lower(q.name), lower(q.text)])
        union all
        select l.value, 3, 'active', 0 from field_term_aliases l
          where l.field_id = q.field_id and l.alias = q.name) m
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

/** Whether a label of this would show nothing: blanks and marks that are not seen. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Z}\p{Cc}\p{Cf}]*$/u.test(text);
}

/** What a label is as a slug: letters and digits of any script, Latin ones without accents, hyphens for the rest. */
export function slugOf(label: string): string {
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
 * Creates a term for each text, which none of the field's terms matches: the text is the label, its slug the value
 * (spec 2.7 rule 2). Under the lock of the field's row, so that two who name the same make one. Returns the slugs;
 * null, and makes none, where the vocabulary has no room for all of them.
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
  const numbered = slugs.map((slug) => `${slug}-%`);
  const { rows } = await sql<{ value: string }>`
    select value from field_terms where field_id = ${fieldId}
      and (value = any(${slugs}::text[]) or value like any(${numbered}::text[]))
    union all
    -- A slug names before a label does: a term that is made keeps off the names of others.
    select lower(label) from field_terms where field_id = ${fieldId}
      and (lower(label) = any(${slugs}::text[]) or lower(label) like any(${numbered}::text[]))
    union all
    -- spec 2.7 rule 1: an alias collides with no slug, so a term that is made keeps off them.
    select alias from field_term_aliases where field_id = ${fieldId}
      and (alias = any(${slugs}::text[]) or alias like any(${numbered}::text[]))`.execute(tx);
  const { rows: sizes } = await sql<{ size: number; last: number }>`
    select count(*) as size, coalesce(max(position), 0) as last from field_terms
    where field_id = ${fieldId}`.execute(tx);
  const { size, last } = sizes[0] ?? { size: 0, last: 0 };
  if (size + labels.size > MOST_TERMS) return null;
  const taken = new Set(rows.map(({ value }) => value));
  const made = new Map<string, string>();
  // Who is called like a slug has it before others: of `C++` and `C`, `c` is the latter, and names it ever after.
  const isItsSlug = ([key, label]: [string, string]) => slugOf(label) === key;
  for (const [key, label] of [...labels].sort((a, b) => Number(isItsSlug(b)) - Number(isItsSlug(a)))) {
    const wanted = slugOf(label);
    let slug = wanted;
    // Another term may have that slug and say something else: `C` and `C++`.
    for (let number = 2; taken.has(slug); number += 1) slug = `${wanted}-${number}`;
    taken.add(slug);
    made.set(key, slug);
  }
  const places = [...labels.keys()].map((key) => made.get(key) ?? '');
  await sql`insert into field_terms (field_id, value, label, path, position)
    select ${fieldId}, t.value, t.label, array[t.value], ${last} + t.place
    from unnest(${places}::text[], ${[...labels.values()]}::text[]) with ordinality as t (value, label, place)
    on conflict (field_id, value) do nothing`.execute(tx);
  return new Map(texts.map((text) => [text, made.get(termKey(text)) ?? '']));
}
