import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';

/** One part of a query. */
export interface Term {
  text: string;
  unwanted: boolean;
  /** In quotes: must match literally. */
  exact: boolean;
  /** Whether it is a prefix: the last word, while the user types. */
  beginning: boolean;
}

/** A shorter prefix counts as a whole word: too many words begin with it. */
const SHORTEST_BEGINNING = 3;

function lastLetters(text: string): number {
  return /[\p{L}\p{M}\p{N}]*(?=[^\p{L}\p{M}\p{N}]*$)/u.exec(text)?.[0].length ?? 0;
}

/** Parses a query into words, "phrases", and exclusions after `-`. Every text is a valid query. */
export function readTerms(text: string, shortestBeginning = SHORTEST_BEGINNING): Term[] {
  const parts =
    text
      .replaceAll('\0', ' ')
      .replace(/[“”„«»]/g, '"')
      .match(/-?"[^"]*"?|\S+/g) ?? [];
  return parts.map((part, index) => {
    const unwanted = part.length > 1 && part.startsWith('-');
    const body = unwanted ? part.slice(1) : part;
    const isPhrase = body.startsWith('"');
    const isLast = index === parts.length - 1;
    const beginning = isLast && !unwanted && !isPhrase && lastLetters(body) >= shortestBeginning;
    return { text: isPhrase ? body.replaceAll('"', '') : body, unwanted, exact: isPhrase, beginning };
  });
}

/** Which words to search: those of the whole document, or of titles and names only. */
export type Words = 'all' | 'titles';

/** A query for PostgreSQL; each property is a tsquery as text, empty without words. */
export interface ParsedQuery {
  terms: readonly Term[];
  words: Words;
  wanted: string;
  unwanted: string;
  /** Any of the wanted words, for documents that have some of them. */
  either: string;
  /** A tsquery for each wanted part that contains a word. */
  each: string[];
  /** The wanted words that are not corrected. */
  literal: string;
  /** Whether the library's language reduces words to their stems. */
  stemmed: boolean;
}

/** Whether a word is never corrected: one with a digit names something else when a character differs (SEARCH-19). */
export function isLiteral({ text }: Term): boolean {
  return /\p{N}/u.test(text);
}

/** Parses a query in the library's language, in one statement; null without a query. */
export async function parseQuery(
  db: Database,
  terms: readonly Term[],
  words: Words = 'all',
): Promise<ParsedQuery | null> {
  if (terms.length === 0) return null;
  const { rows } = await sql<
    Pick<ParsedQuery, 'wanted' | 'unwanted' | 'either' | 'stemmed'> & {
      parts: { query: string; literal: boolean }[];
    }
  >`
    with given as (select ${terms.map((term) => term.text)}::text[] as words,
      ${terms.map((term) => term.unwanted)}::boolean[] as unwanted,
      ${terms.map((term) => term.beginning)}::boolean[] as beginnings,
      ${terms.map(isLiteral)}::boolean[] as literals, ${words === 'titles' ? 'A' : ''}::text as labels)
    select q.wanted::text, q.unwanted::text, q.either::text,
      (search_languages())[1] <> 'pg_catalog.simple'::regconfig as stemmed, coalesce((
        select json_agg(json_build_object('query', question.wanted::text, 'literal', t.is_literal) order by t.place)
        from unnest(g.words, g.unwanted, g.beginnings, g.literals)
          with ordinality t (word, is_unwanted, is_beginning, is_literal, place)
        cross join lateral search_question(array[t.word], array[t.is_unwanted], array[t.is_beginning], g.labels) question
        where numnode(question.wanted) > 0), '[]') as parts
    from given g cross join lateral search_question(g.words, g.unwanted, g.beginnings, g.labels) q`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('function returned no row');
  const { parts, ...queries } = row;
  const literal = parts.filter((part) => part.literal).map(({ query }) => query);
  return { terms, words, ...queries, each: parts.map(({ query }) => query), literal: conjunction(literal) };
}

/** Returns a tsquery as text for documents that match all of these; empty for none. */
export function conjunction(queries: readonly string[]): string {
  return queries
    .filter((query) => query !== '')
    .map((query) => `( ${query} )`)
    .join(' & ');
}

/** Returns whether it contains any word, wanted or not. */
export function hasWords({ wanted, unwanted }: ParsedQuery): boolean {
  return wanted !== '' || unwanted !== '';
}
