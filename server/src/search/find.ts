import { COUNTED_HITS, RANKED_HITS, type SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { searchable } from '../access/search.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { DEFAULT_LIMIT } from '../platform/http/page.ts';
import { refuse } from '../platform/http/refuse.ts';
import {
  expectedBehindGates,
  type Matching,
  matchingOf,
  SIMILARITY_THRESHOLD,
  similarityMatching,
} from '../search-index/matching.ts';
import { hasWords, type ParsedQuery } from '../search-index/parsed-query.ts';
import { type Narrowing, type Source, sources } from '../search-index/sources.ts';
import { type InOrder, inOrder } from './in-order.ts';

/** With fewer hits than this, names similar to the words are hits too. */
const FEW_HITS = 3;

/** Row limits for pages of 24, of the default and of the maximum: few distinct statements to plan (decision 328). */
const PAGES = [25, DEFAULT_LIMIT + 1, 201];

export type Order = 'relevance' | 'newest' | 'oldest';

/** A hit: what it is, and its sort key. */
export interface Hit {
  kind: SearchKind;
  id: string;
  at: string;
  score: number;
  fuzzy: boolean;
}

/** The start of the page: after this hit. */
export interface Place {
  score: number;
  at: string;
  key: string;
}

function placeAfter({ score, at, kind, id }: Hit): string {
  return Buffer.from(`hit ${score} ${at} ${kind}:${id}`).toString('base64url');
}

/** Decodes a cursor; null without one. A malformed cursor is 400. */
export function readPlace(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, score, at, key] =
    /^hit (\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([a-z]+:.{1,300})$/s.exec(
      text,
    ) ?? [];
  if (score === undefined || at === undefined || key === undefined || key.includes('\0')) {
    throw refuse(400, 'malformed cursor');
  }
  if (Number.isNaN(Date.parse(at))) throw refuse(400, 'malformed cursor');
  return { score: Number(score), at, key };
}

export interface Search {
  kinds: readonly SearchKind[];
  /** Null when the request has only filters. */
  parsed: ParsedQuery | null;
  narrowing: Narrowing;
  order: Order;
  /** Whether facets are requested. */
  divided: boolean;
}

/** A kind of row to search, and the condition for a hit. */
interface Sought {
  kind: SearchKind;
  source: Source;
  narrowed: readonly RawBuilder<boolean>[];
  /** Null when the request has only filters: every row the caller may find. */
  matching: Matching | null;
  fuzzy: boolean;
}

/** Returns the kinds to which the filters can apply. */
function soughtOf(caller: Caller, { kinds, parsed, narrowing }: Search): Sought[] {
  if (parsed !== null && !hasWords(parsed)) return [];
  return kinds.flatMap((kind): Sought[] => {
    const source = sources[kind];
    const narrowed = source.narrow(narrowing);
    if (narrowed === null) return [];
    const matching = parsed === null ? null : matchingOf(caller, kind, parsed);
    return [{ kind, source, narrowed, matching, fuzzy: false }];
  });
}

/**
 * Returns rows similar to the words that the words did not find, under the same rule; null where similarity does not
 * apply.
 */
function likenedOf(
  caller: Caller,
  { kinds, narrowing }: Search,
  parsed: ParsedQuery,
  plain: readonly Hit[],
): Sought[] | null {
  const likened = kinds.flatMap((kind): (Sought | null)[] => {
    const source = sources[kind];
    const narrowed = source.narrow(narrowing);
    if (narrowed === null) return [];
    const matching = similarityMatching(caller, kind, parsed);
    if (matching === null) return [null];
    const found = plain.filter((hit) => hit.kind === kind).map((hit) => hit.id);
    const others = sql<boolean>`not ${source.id}::text = any(${found}::text[])`;
    const matches = sql<boolean>`(${matching.matches} and ${others})`;
    return [{ kind, source, narrowed, matching: { ...matching, matches }, fuzzy: true }];
  });
  const all = likened.filter((one) => one !== null);
  return all.length < likened.length ? null : all;
}

function keyOf(kind: SearchKind, id: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(${`${kind}:`}::text || ${id}) collate "C"`;
}

/** After this place in an order of times. */
function behind(place: Place | null, kind: SearchKind, way: 'newest' | 'oldest') {
  if (place === null) return null;
  const sign = way === 'newest' ? sql`<` : sql`>`;
  // The time condition separately, so that an index applies.
  return (at: RawBuilder<unknown>, id: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql`(${at} ${sign}= ${place.at}::timestamptz
      and (${at}, ${keyOf(kind, id)}) ${sign} (${place.at}::timestamptz, ${place.key} collate "C"))`;
}

/** Returns the first hits of a kind in an order of times, from a place on. */
function hitsOf(
  caller: Caller,
  { kind, source, narrowed, matching, fuzzy }: Sought,
  { name, way, place, ranked, most, enough }: Reach,
): InOrder {
  const columns = (at: RawBuilder<unknown>, id: RawBuilder<unknown>, score: RawBuilder<unknown>) =>
    sql`${kind}::text as kind, ${id}::text as id, ${at} as at, ${score} as score, ${fuzzy}::boolean as fuzzy,
      ${keyOf(kind, id)} as key`;
  const after = behind(place, kind, way);
  if (matching === null) {
    const { from, at, id } = source;
    const direction = way === 'newest' ? sql`desc` : sql`asc`;
    const conditions = [searchable(caller, kind), ...narrowed, ...(after === null ? [] : [after(at, id)])];
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
    narrowed,
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

interface Reach {
  name: 'hits' | 'page';
  way: 'newest' | 'oldest';
  place: Place | null;
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
  sought: readonly Sought[],
  { ranked, isDivided, page }: { ranked: boolean; isDivided: boolean; page: number },
): InOrder[] {
  const reach = { way: 'newest', place: null, ranked, most: RANKED_HITS, name: 'hits' } as const;
  if (ranked || isDivided || sought.some(({ matching }) => matching !== null)) {
    return sought.map((one) => hitsOf(caller, one, { ...reach, enough: null }));
  }
  const inTurn = countedFirst.flatMap((kind) => sought.filter((one) => one.kind === kind));
  return inTurn.map((one, index) => {
    const counts = inTurn
      .slice(0, index)
      .map(({ kind }) => sql`(select count(*) from ${sql.table(`hits_${kind}`)})`);
    const known = counts.length === 0 ? sql`0` : sql.join(counts, sql` + `);
    const enough = sql<number>`greatest(${page}::bigint, ${RANKED_HITS}::bigint - (${known}))`;
    return hitsOf(caller, one, { ...reach, enough });
  });
}

/** Returns every hit with the words, up to the counting limit, for facets. */
export interface Division {
  kinds: readonly SearchKind[];
  ids: readonly string[];
}

interface PageRow {
  total: number;
  page: Hit[];
  division: Division | null;
  /** Returns all hits if there are few; null otherwise. */
  few: Hit[] | null;
}

const hitJson = sql`json_build_object('kind', kind, 'id', id, 'at', at, 'score', score, 'fuzzy', fuzzy)`;

/** PostgreSQL writes times in JSON with `+00:00`. */
function hitOf(hit: Hit): Hit {
  return { ...hit, at: hit.at.replace('+00:00', 'Z') };
}

/** Returns hits that were found before as rows. */
function rowsOf(hits: readonly Hit[]): RawBuilder<unknown> {
  const column = <T>(of: (hit: Hit) => T) => hits.map(of);
  return sql`(select kind, id, at, score, false as fuzzy, (kind || ':' || id) collate "C" as key
    from unnest(${column((hit) => hit.kind)}::text[], ${column((hit) => hit.id)}::text[],
      ${column((hit) => hit.at)}::timestamptz[], ${column((hit) => hit.score)}::float8[]) as plain (kind, id, at, score))`;
}

async function readPage(
  tx: Tx,
  caller: Caller,
  sought: readonly Sought[],
  known: readonly Hit[],
  { order, divided }: Search,
  place: Place | null,
  limit: number,
): Promise<PageRow> {
  if (sought.length === 0) return { total: 0, page: [], division: null, few: null };
  const ranked = order === 'relevance';
  const hits = allHits(caller, sought, { ranked, isDivided: divided, page: limit });
  // The first page of the newest is among the hits; any other page is read in order from its cursor.
  const isAmongHits = ranked || (order === 'newest' && place === null);
  const pages = isAmongHits
    ? []
    : sought.map((one) =>
        hitsOf(caller, one, {
          name: 'page',
          way: order,
          place,
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
    place === null
      ? sql`true`
      : ranked
        ? sql`(score, at, key) < (${place.score}::float8, ${place.at}::timestamptz, ${place.key} collate "C")`
        : sql`(at, key) ${sign} (${place.at}::timestamptz, ${place.key} collate "C")`;
  const union = (parts: readonly InOrder[]) =>
    sql.join(
      [...(known.length === 0 ? [] : [rowsOf(known)]), ...parts.map(({ rows }) => rows)],
      sql` union all `,
    );
  const found = isAmongHits ? sql`hits` : sql`(${union(pages)}) reached`;
  // Hits that are only similar to the words are counted, but not part of facets.
  const division = sql`(select json_build_object('kinds', coalesce(json_agg(kind), '[]'), 'ids', coalesce(json_agg(id), '[]'))
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
      ${divided ? division : sql`null::json`} as division,
      case when (select count(*) from hits) < ${FEW_HITS}
        then coalesce((select json_agg(${hitJson}) from hits), '[]') end as few,
      coalesce((select json_agg(${hitJson} order by ${way}) from page), '[]') as page`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate answers its row');
  return { ...row, page: row.page.map(hitOf), few: row.few?.map(hitOf) ?? null };
}

export interface FoundPage {
  hits: Hit[];
  next: string | null;
  total: number;
  capped: boolean;
  division: Division | null;
}

function cut({ page, total, division }: PageRow, limit: number): FoundPage {
  const hits = page.slice(0, limit);
  const last = hits.at(-1);
  return {
    hits,
    next: page.length > limit && last !== undefined ? placeAfter(last) : null,
    total: Math.min(total, COUNTED_HITS),
    capped: total > COUNTED_HITS,
    division,
  };
}

/** With more gated documents than this, the way to those that match depends on which of the words is rare. */
const MANY_GATED = 1000;

/**
 * Returns whether a plan for the given words is cheaper than a cached one for any words (decisions 328 and 361).
 * Planning usually costs more than running. When a signed-in caller searches assets for several words, each word may be in a
 * part of the asset that only some callers may read, which matters once many assets have one of them there.
 */
export async function dependsOnWords(
  tx: Tx,
  caller: Caller,
  kinds: readonly SearchKind[],
  parsed: ParsedQuery | null,
): Promise<boolean> {
  if (caller.kind === 'anonymous' || !kinds.includes('asset')) return false;
  if (parsed === null || parsed.each.length < 2) return false;
  return (await expectedBehindGates(tx, parsed)) > MANY_GATED;
}

/** Runs a search in a transaction with cached plans and the similarity threshold. */
export function runSearch<T>(db: Database, run: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('plan_cache_mode', 'force_generic_plan', true),
      set_config('pg_trgm.word_similarity_threshold', ${SIMILARITY_THRESHOLD}, true)`.execute(tx);
    return run(tx);
  });
}

/** Makes PostgreSQL plan the later statements of the transaction for their parameters. */
async function planForWords(tx: Tx): Promise<void> {
  await sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(tx);
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
  place: Place | null,
  limit: number,
): Promise<FoundPage> {
  const { kinds, parsed } = search;
  if (await dependsOnWords(tx, caller, kinds, parsed)) await planForWords(tx);
  const sought = soughtOf(caller, search);
  const page = await readPage(tx, caller, sought, [], search, place, limit + 1);
  const { few } = page;
  if (parsed === null || few === null) return cut(page, limit);
  const likened = likenedOf(caller, search, parsed, few);
  if (likened === null || likened.length === 0) return cut(page, limit);
  return cut(await readPage(tx, caller, likened, few, search, place, limit + 1), limit);
}
