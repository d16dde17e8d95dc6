import { COUNTED_HITS, RANKED_HITS, type SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { searchable } from '../access/search.ts';
import type { Database } from '../platform/database/pool.ts';
import { refuse } from '../platform/http/refuse.ts';
import { LIKENESS, type Matching, readLikeness, readMatching } from './matching.ts';
import type { Question } from './question.ts';
import { type Narrowing, type Source, sources } from './sources.ts';

/** With fewer hits than this, names much like the words are hits too. */
const FEW_HITS = 3;

export type Order = 'relevance' | 'newest' | 'oldest';

/** A hit as found: what it is, and why it stands where it does. */
export interface Hit {
  kind: SearchKind;
  id: string;
  at: string;
  score: number;
  fuzzy: boolean;
}

/** Where a page begins: after this hit. */
export interface Place {
  score: number;
  at: string;
  key: string;
}

export function placeAfter({ score, at, kind, id }: Hit): string {
  return Buffer.from(`hit ${score} ${at} ${kind}:${id}`).toString('base64url');
}

/** The hit a cursor names, or null without one; a malformed one is 400. */
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
  /** Null when nothing but the narrowing was asked. */
  question: Question | null;
  narrowing: Narrowing;
  order: Order;
  /** Whether facets are asked for. */
  divided: boolean;
}

/** Rows of a kind that the caller may find and that match, with how well they do. */
export interface Found {
  kind: SearchKind;
  source: Source;
  where: RawBuilder<boolean>;
  /** Plain hits before those that are only much like them. */
  score: RawBuilder<number>;
  fuzzy: boolean;
}

const everything: Matching = { matches: sql`true`, rank: sql`0::float8` };

/** Rows that match under the rule of their kind, of the kinds that can have what is asked for. */
function foundOf(
  caller: Caller,
  { kinds, question, narrowing }: Search,
  matching: ReadonlyMap<SearchKind, Matching>,
): Found[] {
  return kinds.flatMap((kind): Found[] => {
    const source = sources[kind];
    const narrowed = source.narrow(narrowing);
    const match = question === null ? everything : matching.get(kind);
    if (narrowed === null || match === undefined) return [];
    const where = sql<boolean>`${sql.join([match.matches, searchable(caller, kind), ...narrowed], sql` and `)}`;
    const score = question === null ? match.rank : sql<number>`1 + ${match.rank}`;
    return [{ kind, source, where, score, fuzzy: false }];
  });
}

/** What is much like the words and does not have them, under the same rule. */
function likenedOf(
  caller: Caller,
  { kinds, narrowing }: Search,
  matching: ReadonlyMap<SearchKind, Matching>,
  likeness: ReadonlyMap<SearchKind, Matching>,
): Found[] {
  return kinds.flatMap((kind): Found[] => {
    const source = sources[kind];
    const narrowed = source.narrow(narrowing);
    const [plain, alike] = [matching.get(kind), likeness.get(kind)];
    if (narrowed === null || plain === undefined || alike === undefined) return [];
    const conditions = [alike.matches, sql`not ${plain.matches}`, searchable(caller, kind), ...narrowed];
    const where = sql<boolean>`${sql.join(conditions, sql` and `)}`;
    return [{ kind, source, where, score: alike.rank, fuzzy: true }];
  });
}

function keyOf({ kind, source }: Found): RawBuilder<string> {
  return sql`(${`${kind}:`}::text || ${source.id}) collate "C"`;
}

/** The newest hits of a kind: what is ranked and counted. */
function hitsOf(found: Found, ranked: boolean, most: number): RawBuilder<unknown> {
  const { kind, source, where, fuzzy } = found;
  return sql`(select ${kind}::text as kind, ${source.id}::text as id, ${source.at} as at,
      ${ranked ? found.score : sql`0::float8`} as score, ${fuzzy}::boolean as fuzzy, ${keyOf(found)} as key
    from ${source.from} where ${where} order by ${source.at} desc, ${source.id} desc limit ${most})`;
}

/** The hits of a kind on a page ordered by time, read along the index from the cursor on. */
function pageOf(
  found: Found,
  order: 'newest' | 'oldest',
  place: Place | null,
  limit: number,
): RawBuilder<unknown> {
  const { kind, source, where, fuzzy } = found;
  const [sign, way] = order === 'newest' ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`];
  const after =
    place === null
      ? sql`true`
      : sql`(${source.at} ${sign}= ${place.at}::timestamptz
          and (${source.at}, ${keyOf(found)}) ${sign} (${place.at}::timestamptz, ${place.key} collate "C"))`;
  return sql`(select ${kind}::text as kind, ${source.id}::text as id, ${source.at} as at, 0::float8 as score,
      ${fuzzy}::boolean as fuzzy, ${keyOf(found)} as key
    from ${source.from} where ${where} and ${after} order by ${source.at} ${way}, ${source.id} ${way} limit ${limit})`;
}

/** What was found, for facets: every hit that has the words, as far as they are counted. */
export interface Division {
  kinds: readonly SearchKind[];
  ids: readonly string[];
}

interface PageRow {
  total: number;
  plain: number;
  page: Hit[];
  division: Division | null;
}

async function readPage(
  db: Database,
  found: readonly Found[],
  { order, divided }: Search,
  place: Place | null,
  limit: number,
): Promise<PageRow> {
  if (found.length === 0) return { total: 0, plain: 0, page: [], division: null };
  const ranked = order === 'relevance';
  const hits = sql.join(
    found.map((one) => hitsOf(one, ranked, RANKED_HITS)),
    sql` union all `,
  );
  const after =
    place === null
      ? sql`true`
      : sql`(h.score, h.at, h.key) < (${place.score}::float8, ${place.at}::timestamptz, ${place.key} collate "C")`;
  const page = ranked
    ? sql`select * from hits h where ${after} order by h.score desc, h.at desc, h.key desc limit ${limit}`
    : sql`select * from (${sql.join(
        found.map((one) => pageOf(one, order, place, limit)),
        sql` union all `,
      )}) h order by h.at ${order === 'newest' ? sql`desc` : sql`asc`}, h.key ${order === 'newest' ? sql`desc` : sql`asc`} limit ${limit}`;
  // Hits that are only much like the words are counted, not divided.
  const division = sql`(select json_build_object('kinds', coalesce(json_agg(kind), '[]'), 'ids', coalesce(json_agg(id), '[]'))
    from hits where not fuzzy)`;
  const way = ranked
    ? sql`score desc, at desc, key desc`
    : order === 'newest'
      ? sql`at desc, key desc`
      : sql`at, key`;
  const { rows } = await sql<PageRow>`
    with hits as materialized (${hits}), page as materialized (${page})
    select (select count(*) from hits) as total, (select count(*) from hits where not fuzzy) as plain,
      ${divided ? division : sql`null::json`} as division,
      coalesce((select json_agg(json_build_object('kind', kind, 'id', id, 'at', at, 'score', score, 'fuzzy', fuzzy)
        order by ${way}) from page), '[]') as page`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate answers its row');
  // Times inside JSON come as `+00:00`.
  return { ...row, page: row.page.map((hit) => ({ ...hit, at: hit.at.replace('+00:00', 'Z') })) };
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

/**
 * A page of what the caller may find, in a fixed number of statements, whatever is found: which words are common, the
 * page with its total, and, where almost nothing has the words, the page again with what is much like them. That, too,
 * is decided by the caller's own hits alone.
 */
export async function find(
  db: Database,
  caller: Caller,
  search: Search,
  place: Place | null,
  limit: number,
): Promise<FoundPage> {
  const { question } = search;
  const matching =
    question === null
      ? new Map<SearchKind, Matching>()
      : await readMatching(db, caller, search.kinds, question);
  const found = foundOf(caller, search, matching);
  const page = await readPage(db, found, search, place, limit + 1);
  if (question === null || page.plain >= FEW_HITS) return cut(page, limit);
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('pg_trgm.word_similarity_threshold', ${LIKENESS}, true)`.execute(tx);
    const likeness = await readLikeness(tx, caller, search.kinds, question);
    if (likeness === null) return cut(page, limit);
    const both = [...found, ...likenedOf(caller, search, matching, likeness)];
    return cut(await readPage(tx, both, search, place, limit + 1), limit);
  });
}
