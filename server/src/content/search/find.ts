import { COUNTED_HITS, RANKED_HITS, type SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { searchable } from '../../access/search.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { type Matching, matchingOf, similarityMatching } from '../search-index/matching.ts';
import { hasWords, type ParsedQuery } from '../search-index/parsed-query.ts';
import { type Narrowing, type Source, sources } from '../search-index/sources.ts';
import { cursorAfter, type Hit, type Position } from './cursor.ts';
import { inOrder } from './in-order/in-order.ts';
import type { InOrder } from './in-order/kind-search.ts';
import { dependsOnWords, planForWords } from './plans.ts';

/** With fewer hits than this, names similar to the words are hits too. */
const FEW_HITS = 3;

/** Row limits for pages of 24, of the default and of the maximum: few distinct statements to plan (decision 328). */
const PAGES = [25, DEFAULT_LIMIT + 1, 201];

export type Order = 'relevance' | 'newest' | 'oldest';

export interface Search {
  kinds: readonly SearchKind[];
  /** Null when the request has only filters. */
  parsed: ParsedQuery | null;
  narrowing: Narrowing;
  order: Order;
  /** Whether facets are requested. */
  withFacets: boolean;
}

/** A kind of row to search, and the condition for a hit. */
interface KindQuery {
  kind: SearchKind;
  source: Source;
  filters: readonly RawBuilder<boolean>[];
  /** Null when the request has only filters: every row the caller may find. */
  matching: Matching | null;
  fuzzy: boolean;
}

/** Returns the kinds to which the filters can apply. */
function queriesOf(caller: Caller, { kinds, parsed, narrowing }: Search): KindQuery[] {
  if (parsed !== null && !hasWords(parsed)) return [];
  return kinds.flatMap((kind): KindQuery[] => {
    const source = sources[kind];
    const filters = source.narrow(narrowing);
    if (filters === null) return [];
    const matching = parsed === null ? null : matchingOf(caller, kind, parsed);
    return [{ kind, source, filters, matching, fuzzy: false }];
  });
}

/**
 * Returns rows similar to the words that the words did not find, under the same rule; null where similarity does not
 * apply.
 */
function similarityQueriesOf(
  caller: Caller,
  { kinds, narrowing }: Search,
  parsed: ParsedQuery,
  plain: readonly Hit[],
): KindQuery[] | null {
  const similar = kinds.flatMap((kind): (KindQuery | null)[] => {
    const source = sources[kind];
    const filters = source.narrow(narrowing);
    if (filters === null) return [];
    const matching = similarityMatching(caller, kind, parsed);
    if (matching === null) return [null];
    const found = plain.filter((hit) => hit.kind === kind).map((hit) => hit.id);
    const others = sql<boolean>`not ${source.id}::text = any(${found}::text[])`;
    const matches = sql<boolean>`(${matching.matches} and ${others})`;
    return [{ kind, source, filters, matching: { ...matching, matches }, fuzzy: true }];
  });
  const all = similar.filter((query) => query !== null);
  return all.length < similar.length ? null : all;
}

function keyOf(kind: SearchKind, id: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(${`${kind}:`}::text || ${id}) collate "C"`;
}

/** After this position in an order of times. */
function afterPosition(position: Position | null, kind: SearchKind, way: 'newest' | 'oldest') {
  if (position === null) return null;
  const sign = way === 'newest' ? sql`<` : sql`>`;
  // The time condition separately, so that an index applies.
  return (at: RawBuilder<unknown>, id: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql`(${at} ${sign}= ${position.at}::timestamptz
      and (${at}, ${keyOf(kind, id)}) ${sign} (${position.at}::timestamptz, ${position.key} collate "C"))`;
}

/** Returns the first hits of a kind in an order of times, from a position on. */
function hitsOf(
  caller: Caller,
  { kind, source, filters, matching, fuzzy }: KindQuery,
  { name, way, position, ranked, most, enough }: HitRange,
): InOrder {
  const columns = (at: RawBuilder<unknown>, id: RawBuilder<unknown>, score: RawBuilder<unknown>) =>
    sql`${kind}::text as kind, ${id}::text as id, ${at} as at, ${score} as score, ${fuzzy}::boolean as fuzzy,
      ${keyOf(kind, id)} as key`;
  const after = afterPosition(position, kind, way);
  if (matching === null) {
    const { from, at, id } = source;
    const direction = way === 'newest' ? sql`desc` : sql`asc`;
    const conditions = [searchable(caller, kind), ...filters, ...(after === null ? [] : [after(at, id)])];
    // Hits of the same time are sorted by key as cursors have it; for numbers the order would differ.
    const within = kind === 'user' ? sql`(${id}::text collate "C")` : id;
    const rows = sql`(select ${columns(at, id, sql`0::float8`)} from ${from} where ${sql.join(conditions, sql` and `)}
      order by ${at} ${direction}, ${within} ${direction} limit ${sql.lit(most)})`;
    if (enough === null) return { before: [], rows };
    const counted = sql.table(`${name}_${kind}`);
    const needed = sql`(select * from ${rows} r limit ${enough})`;
    return { before: [sql`${counted} as materialized ${needed}`], rows: sql`(select * from ${counted})` };
  }
  // Exact hits precede those that are only similar to the words.
  const score = !ranked ? sql<number>`0::float8` : fuzzy ? matching.rank : sql<number>`1 + ${matching.rank}`;
  const part = inOrder(`${name}_${kind}`, {
    caller,
    kind,
    matching,
    filters,
    score,
    way,
    after,
    most,
  });
  const rows = sql`(select ${columns(sql`o.at`, sql`o.key`, sql`o.score`)} from (${part.rows}) o)`;
  return { before: part.before, rows };
}

/** Rounds a row limit up to one of `PAGES`. */
function roundUpToPage(rows: number): number {
  return PAGES.find((most) => most >= rows) ?? rows;
}

interface HitRange {
  name: 'hits' | 'page';
  way: 'newest' | 'oldest';
  position: Position | null;
  ranked: boolean;
  most: number;
  /** Returns how many of `most` hits are needed besides those of other kinds; null for all. */
  enough: RawBuilder<number> | null;
}

/** In order of cost, cheapest first. */
const countedFirst: readonly SearchKind[] = ['asset', 'user', 'collection', 'post', 'tag'];

/**
 * Returns the hits of all kinds, up to the counting limit. Newest-first searches are counted kind by kind: once there
 * are more than a total reports, one page of the other kinds suffices.
 */
function allHits(
  caller: Caller,
  queries: readonly KindQuery[],
  { ranked, withFacets, page }: { ranked: boolean; withFacets: boolean; page: number },
): InOrder[] {
  const range = { way: 'newest', position: null, ranked, most: RANKED_HITS, name: 'hits' } as const;
  if (ranked || withFacets || queries.some(({ matching }) => matching !== null)) {
    return queries.map((query) => hitsOf(caller, query, { ...range, enough: null }));
  }
  const inTurn = countedFirst.flatMap((kind) => queries.filter((query) => query.kind === kind));
  return inTurn.map((query, index) => {
    const counts = inTurn
      .slice(0, index)
      .map(({ kind }) => sql`(select count(*) from ${sql.table(`hits_${kind}`)})`);
    const counted = counts.length === 0 ? sql`0` : sql.join(counts, sql` + `);
    const enough = sql<number>`greatest(${page}::bigint, ${RANKED_HITS}::bigint - (${counted}))`;
    return hitsOf(caller, query, { ...range, enough });
  });
}

/** Returns every hit with the words, up to the counting limit, for facets. */
export interface MatchedHits {
  kinds: readonly SearchKind[];
  ids: readonly string[];
}

interface PageRow {
  total: number;
  page: Hit[];
  matched: MatchedHits | null;
  /** All hits if there are few; null otherwise. */
  few: Hit[] | null;
}

const hitJson = sql`json_build_object('kind', kind, 'id', id, 'at', at, 'score', score, 'fuzzy', fuzzy)`;

/** PostgreSQL writes times in JSON with `+00:00`. */
function hitOf(hit: Hit): Hit {
  return { ...hit, at: hit.at.replace('+00:00', 'Z') };
}

/** Returns hits that were found before as rows. */
function rowsOf(hits: readonly Hit[]): RawBuilder<unknown> {
  const column = <T>(read: (hit: Hit) => T) => hits.map(read);
  return sql`(select kind, id, at, score, false as fuzzy, (kind || ':' || id) collate "C" as key
    from unnest(${column((hit) => hit.kind)}::text[], ${column((hit) => hit.id)}::text[],
      ${column((hit) => hit.at)}::timestamptz[], ${column((hit) => hit.score)}::float8[]) as plain (kind, id, at, score))`;
}

async function readPage(
  tx: Tx,
  caller: Caller,
  queries: readonly KindQuery[],
  exactHits: readonly Hit[],
  { order, withFacets }: Search,
  position: Position | null,
  limit: number,
): Promise<PageRow> {
  if (queries.length === 0) return { total: 0, page: [], matched: null, few: null };
  const ranked = order === 'relevance';
  const hits = allHits(caller, queries, { ranked, withFacets, page: limit });
  // The first page of the newest is among the hits; any other page is read in order from its cursor.
  const isAmongHits = ranked || (order === 'newest' && position === null);
  const pages = isAmongHits
    ? []
    : queries.map((query) =>
        hitsOf(caller, query, {
          name: 'page',
          way: order,
          position,
          ranked,
          most: roundUpToPage(limit),
          enough: null,
        }),
      );
  const way = ranked
    ? sql`score desc, at desc, key desc`
    : order === 'newest'
      ? sql`at desc, key desc`
      : sql`at, key`;
  const sign = order === 'oldest' ? sql`>` : sql`<`;
  const after =
    position === null
      ? sql`true`
      : ranked
        ? sql`(score, at, key) < (${position.score}::float8, ${position.at}::timestamptz, ${position.key} collate "C")`
        : sql`(at, key) ${sign} (${position.at}::timestamptz, ${position.key} collate "C")`;
  const union = (parts: readonly InOrder[]) =>
    sql.join(
      [...(exactHits.length === 0 ? [] : [rowsOf(exactHits)]), ...parts.map(({ rows }) => rows)],
      sql` union all `,
    );
  const found = isAmongHits ? sql`hits` : sql`(${union(pages)}) reached`;
  // Hits that are only similar to the words are counted, but not part of facets.
  const matched = sql`(select json_build_object('kinds', coalesce(json_agg(kind), '[]'), 'ids', coalesce(json_agg(id), '[]'))
    from hits where not fuzzy)`;
  const before = [...hits, ...pages].flatMap((part) => part.before);
  const { rows } = await sql<PageRow>`
    with ${sql.join(
      [
        ...before,
        sql`hits as materialized (${union(hits)})`,
        sql`page as materialized (select * from ${found} where ${after} order by ${way} limit ${limit})`,
      ],
      sql`, `,
    )}
    select (select count(*) from hits) as total,
      ${withFacets ? matched : sql`null::json`} as matched,
      case when (select count(*) from hits) < ${FEW_HITS}
        then coalesce((select json_agg(${hitJson}) from hits), '[]') end as few,
      coalesce((select json_agg(${hitJson} order by ${way}) from page), '[]') as page`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('aggregate returned no row');
  return { ...row, page: row.page.map(hitOf), few: row.few?.map(hitOf) ?? null };
}

export interface FoundPage {
  hits: Hit[];
  next: string | null;
  total: number;
  capped: boolean;
  matched: MatchedHits | null;
}

function toFoundPage({ page, total, matched }: PageRow, limit: number): FoundPage {
  const hits = page.slice(0, limit);
  const last = hits.at(-1);
  return {
    hits,
    next: page.length > limit && last !== undefined ? cursorAfter(last) : null,
    total: Math.min(total, COUNTED_HITS),
    capped: total > COUNTED_HITS,
    matched,
  };
}

/**
 * Returns a page of what the caller may find, in a fixed number of statements: the page with its total and, if almost
 * nothing has the words, the page with similar names. That decision depends on the caller's own hits only. Call
 * it in `runSearch`.
 */
export async function find(
  tx: Tx,
  caller: Caller,
  search: Search,
  position: Position | null,
  limit: number,
): Promise<FoundPage> {
  const { kinds, parsed } = search;
  if (await dependsOnWords(tx, caller, kinds, parsed)) await planForWords(tx);
  const queries = queriesOf(caller, search);
  const page = await readPage(tx, caller, queries, [], search, position, limit + 1);
  const { few } = page;
  if (parsed === null || few === null) return toFoundPage(page, limit);
  const similar = similarityQueriesOf(caller, search, parsed, few);
  if (similar === null || similar.length === 0) return toFoundPage(page, limit);
  return toFoundPage(await readPage(tx, caller, similar, few, search, position, limit + 1), limit);
}
