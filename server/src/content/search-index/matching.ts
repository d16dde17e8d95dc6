import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { openGates, readableWords } from '../../access/search.ts';
import type { Database } from '../../platform/database/pool.ts';
import { conjunction, hasWords, isLiteral, type ParsedQuery, parseQuery, readTerms } from './parsed-query.ts';

interface Documents {
  /** The table of its documents, and their key. */
  table: string;
  key: string;
  /** The row itself, by the alias that the rules use. */
  row: string;
  gated: string | null;
  /** Whether documents have the time of their row and are read in its order (migration 0015). */
  timed: boolean;
}

export const documentsOf: Readonly<Record<SearchKind, Documents>> = {
  post: {
    table: 'post_documents',
    key: 'post_id',
    row: 'p.id',
    gated: 'post_gated_documents',
    timed: true,
  },
  asset: {
    table: 'asset_documents',
    key: 'asset_id',
    row: 'a.id',
    gated: 'asset_gated_documents',
    timed: true,
  },
  collection: {
    table: 'collection_documents',
    key: 'collection_id',
    row: 'c.id',
    gated: 'collection_gated_documents',
    timed: true,
  },
  user: { table: 'user_documents', key: 'user_ref', row: 'u.ref', gated: null, timed: false },
  tag: { table: 'tag_documents', key: 'tag', row: 't.name', gated: null, timed: false },
};

/**
 * How documents `d` of a kind match a query, without access rules. Conditions on the document alone are evaluated
 * first; conditions on a row's gated words follow once the row is joined.
 */
export interface Matching {
  /** Whether a document may match, evaluated one by one and without an index, so that no plan depends on it. */
  likely: RawBuilder<boolean>;
  /** Rows of key and time of the documents `d` that may match and satisfy `also`, each once, from indexes. */
  gathered(also: RawBuilder<boolean>): RawBuilder<unknown>;
  /** Whether a candidate document matches, including all words of its row that the caller may read. */
  matches: RawBuilder<boolean>;
  /** The score, by the document alone: other documents do not affect it. */
  rank: RawBuilder<number>;
}

/** Key and time of a document. Names have no time of their own. */
function keyAndTime(kind: SearchKind): RawBuilder<unknown> {
  const { key, timed } = documentsOf[kind];
  return timed ? sql`${sql.ref(`d.${key}`)} as key, d.at` : sql`${sql.ref(`d.${key}`)} as key`;
}

/** The words of a row besides its document that the caller may read, or null where there can be none. */
function behindGates(
  caller: Caller,
  kind: SearchKind,
): { any: RawBuilder<boolean>; open: RawBuilder<unknown> } | null {
  const { key, gated } = documentsOf[kind];
  const open = openGates(caller, kind);
  if (gated === null || open === null) return null;
  return {
    any: sql`d.gated`,
    open: sql`(select tsvector_of_all(g.document) from ${sql.table(gated)} g
      where ${sql.ref(`g.${key}`)} = ${sql.ref(`d.${key}`)} and ${open})`,
  };
}

/** Returns a tsquery as text, evaluated once per statement. */
function wholeOf({ wanted, unwanted }: ParsedQuery): RawBuilder<unknown> {
  return sql`${conjunction([wanted, unwanted])}::tsquery`;
}

/** Returns how documents of a kind match a query with words. */
export function matchingOf(caller: Caller, kind: SearchKind, parsed: ParsedQuery): Matching {
  const { table, key, gated, timed } = documentsOf[kind];
  const whole = wholeOf(parsed);
  const column = sql.ref(readableWords(caller, kind).document);
  const areTitles = parsed.words === 'titles';
  // Titles have an index of their own: the other finds a word, but not its position.
  const indexed = areTitles && timed ? sql`ts_filter(${column}, '{a}')` : column;
  // Parsed once per statement, not once per row.
  const once = sql`(select ${whole})`;
  const wanted = sql`(select ${parsed.wanted}::tsquery)`;
  // The function behind `@@`, which uses no index.
  const own = sql<boolean>`ts_match_vq(${column}, ${once})`;
  const withWords = (also: RawBuilder<boolean>) =>
    sql`select ${keyAndTime(kind)} from ${sql.table(table)} d where ${indexed} @@ ${whole} and ${also}`;
  // As ts_rank's normalisation 1 has it, but only of what the row says of itself: comments and the text of a file (weight D)
  // may be of any length, and must not lower the rank of a title.
  const length = sql`(ln(greatest(length(ts_filter(${column}, '{a,b,c}')), 1) + 1) / ln(2))`;
  const rankOf = (document: RawBuilder<unknown>): RawBuilder<number> =>
    parsed.wanted === ''
      ? sql`0::float8`
      : timed
        ? sql`(ts_rank('{0.1,0.3,0.6,1.0}', ${document}, ${wanted}) / ${length})::float8`
        : sql`ts_rank('{0.1,0.3,0.6,1.0}', ${document}, ${wanted}, 1)::float8`;
  // No title is gated.
  const gates = areTitles ? null : behindGates(caller, kind);
  if (gates === null || gated === null) {
    return { likely: own, gathered: withWords, matches: sql`true`, rank: rankOf(column) };
  }
  const document = sql`(case when ${gates.any} then ${column} || ${gates.open} else ${column} end)`;
  const matches = sql<boolean>`(not ${gates.any} or ts_match_vq(${column} || ${gates.open}, ${once}))`;
  if (parsed.wanted === '') return { likely: own, gathered: withWords, matches, rank: rankOf(document) };
  // Gated words may match a part of the query. Considers all gates, regardless of the caller; `matches` considers the
  // open ones.
  const added = sql<boolean>`(d.gated and coalesce((select ts_match_vq(${column} || tsvector_of_all(g.document), ${wanted})
    from ${sql.table(gated)} g where ${sql.ref(`g.${key}`)} = ${sql.ref(`d.${key}`)} having count(*) > 0), false))`;
  const likely = sql<boolean>`(${own} or ${added})`;
  return {
    likely,
    gathered: (also) =>
      sql.join(
        [
          withWords(also),
          ...withGates(gated, key, parsed, column).map(
            (such) =>
              sql`select ${keyAndTime(kind)} from ${sql.table(table)} d where ${such} and ${also} and ${likely}`,
          ),
        ],
        sql` union `,
      ),
    matches,
    rank: rankOf(document),
  };
}

/** With more parts than this, documents behind gates are searched for any of them. */
const PARTS_APART = 2;

/**
 * Returns conditions of which each document `d` that matches with gated words meets at least one: all ways to divide
 * the parts between gated and ungated words, so that a rare part on either side avoids scanning all documents with the
 * others.
 */
function withGates(
  gated: string,
  key: string,
  { each, either }: ParsedQuery,
  column: RawBuilder<unknown>,
): RawBuilder<boolean>[] {
  const inGated = (part: string) => sql<boolean>`${sql.ref(`d.${key}`)} in (
    select ${sql.ref(`g.${key}`)} from ${sql.table(gated)} g where g.document @@ ${part}::tsquery)`;
  if (each.length > PARTS_APART) return [inGated(either)];
  const inOwn = (part: string) => sql<boolean>`${column} @@ ${part}::tsquery`;
  const ways = each.reduce<RawBuilder<boolean>[][]>(
    (known, part) =>
      known.flatMap((way) => [
        [...way, inGated(part)],
        [...way, inOwn(part)],
      ]),
    [[]],
  );
  // The last one has all parts ungated, where the index of words finds them.
  return ways.slice(0, -1).map((way) => sql<boolean>`${sql.join(way, sql` and `)}`);
}

/** Returns how many gated documents of assets PostgreSQL expects to have one of the words. Reads none of them. */
export async function expectedBehindGates(db: Database, { either }: ParsedQuery): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`explain (format json)
    select from asset_gated_documents g where g.document @@ ${either}::tsquery`.execute(db);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}

/** `pg_trgm.word_similarity_threshold` while names are compared. */
export const SIMILARITY_THRESHOLD = '0.5';

/** Shorter words are similar to too many others. */
const SHORTEST_LIKENED = 4;
const MOST_LIKENED = 8;
const LONGEST_LIKENED = 100;

/** Returns the words to compare with names; null where comparing would find too much or nothing intended. */
function likened({ terms }: ParsedQuery): readonly string[] | null {
  const wanted = terms.filter((term) => !term.unwanted);
  const correctable = wanted.filter((term) => !isLiteral(term));
  const words = correctable.map((term) => term.text.slice(0, LONGEST_LIKENED));
  // Quoted text is meant literally.
  const isPlain =
    wanted.every((term) => !term.exact) &&
    correctable.every((term) => [...term.text].length >= SHORTEST_LIKENED);
  return isPlain && words.length > 0 && words.length <= MOST_LIKENED ? words : null;
}

/**
 * Matches documents whose names have words similar to every wanted one, and none of the unwanted words: for misspelt
 * queries. Words with digits must be present as written (SEARCH-19). Null where there is nothing to compare. Requires a transaction that has set `SIMILARITY_THRESHOLD`.
 */
export function similarityMatching(caller: Caller, kind: SearchKind, parsed: ParsedQuery): Matching | null {
  const words = likened(parsed);
  if (words === null) return null;
  const { table } = documentsOf[kind];
  const columns = readableWords(caller, kind);
  const names = sql.ref(columns.names);
  // The text of the query is computed once, not once per row; folding may turn a letter into several.
  const texts = words.map(
    (word) => sql`(select left(resembling_text(${word}), ${LONGEST_LIKENED}::integer))`,
  );
  const similarities = texts.map((text) => sql`word_similarity(${text}, ${names})`);
  const alike = texts.map((text) => sql`${text} <% ${names}`);
  const column = sql.ref(columns.document);
  const rest = conjunction([parsed.literal, parsed.unwanted]);
  const restQuery = sql`${rest}::tsquery`;
  const gates = rest === '' ? null : behindGates(caller, kind);
  const own = sql<boolean>`ts_match_vq(${column}, ${restQuery})`;
  const allowed: RawBuilder<boolean> =
    rest === ''
      ? sql`true`
      : gates === null
        ? own
        : sql`(case when ${gates.any} then ts_match_vq(${column} || ${gates.open}, ${restQuery}) else ${own} end)`;
  return {
    likely: sql`(${sql.join(
      similarities.map((similarity) => sql`${similarity} >= ${SIMILARITY_THRESHOLD}::float4`),
      sql` and `,
    )})`,
    gathered: (also) =>
      sql`select ${keyAndTime(kind)} from ${sql.table(table)} d where ${sql.join([...alike, also], sql` and `)}`,
    matches: allowed,
    rank: sql`((${sql.join(similarities, sql` + `)})::float8 / ${words.length}::integer)`,
  };
}

/** Number of newest documents checked to decide whether a list is scanned or its rows are gathered. */
const LOOKED_AT = 1000;
/** With this many hits among them, a page of a list is near. */
const COMMON = 5;

/** For searchable lists: rows whose readable words match `q`; null without a query. */
export async function matchingRows(
  db: Database,
  caller: Caller,
  kind: 'post' | 'asset',
  q: string | undefined,
): Promise<RawBuilder<boolean> | null> {
  const parsed = await parseQuery(db, readTerms(q ?? ''));
  if (parsed === null) return null;
  if (!hasWords(parsed)) return sql`false`;
  const { table, key, row } = documentsOf[kind];
  const matching = matchingOf(caller, kind, parsed);
  const { likely, gathered } = matching;
  const { rows } = await sql<{
    common: boolean;
  }>`select count(*) filter (where ${likely}) >= ${COMMON} as common
    from (select * from ${sql.table(table)} order by at desc, ${sql.ref(key)} desc limit ${LOOKED_AT}) d`.execute(
    db,
  );
  const asked = matchesRow(kind, matching);
  if (rows[0]?.common === true) return asked;
  return sql`(${sql.ref(row)} = any(array(select key from (${gathered(sql`true`)}) g)) and ${asked})`;
}

/** Whether a row matches: one scalar subquery, never planned as a join. */
export function matchesRow(kind: SearchKind, { likely, matches }: Matching): RawBuilder<boolean> {
  const { table, key, row } = documentsOf[kind];
  return sql`(select ${likely} and ${matches} from ${sql.table(table)} d where ${sql.ref(`d.${key}`)} = ${sql.ref(row)})`;
}
