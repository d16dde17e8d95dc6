import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { searchable } from '../access/search.ts';
import { searchCandidates } from '../access/whereabouts.ts';
import { documentsOf, type Matching } from '../search-index/matching.ts';
import { sources } from '../search-index/sources.ts';

/** Number of documents scanned first, to choose the best plan for the others. */
const WALKED = 500;
/** Words that fewer than one in this many documents have are gathered from the index of words. */
const RARE = 33;
/** Gathers from times in which the scan predicts more than enough hits; other times only if these did not suffice. */
const ENOUGH = 1.5;
/** With fewer hits than this, the scan does not predict the number of hits. */
const TELLING = 4;
/** When the caller may find fewer than one in this many matches, the plan starts from what they may find. */
const WITHHELD = 10;

/** What to search for in a kind. */
export interface KindSearch {
  caller: Caller;
  kind: SearchKind;
  matching: Matching;
  /** Conditions on the row besides the rule of its kind. */
  narrowed: readonly RawBuilder<boolean>[];
  /** The score of a matching row. */
  score: RawBuilder<number>;
  way: 'newest' | 'oldest';
  /** Where to begin, as a time and a key; null for the start. */
  after: ((at: RawBuilder<unknown>, id: RawBuilder<unknown>) => RawBuilder<boolean>) | null;
  /** The row limit. Inlined, because generic plans do not know parameters. */
  most: number;
}

/** A part of a statement: its prerequisites, and rows of `key`, `at` and `score`. */
export interface InOrder {
  before: RawBuilder<unknown>[];
  rows: RawBuilder<unknown>;
}

/** The score of a candidate document `d`: no row unless it matches and may be found. */
function foundAt(
  { caller, kind, matching, narrowed, score }: KindSearch,
  also: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { key } = documentsOf[kind];
  const { from, id } = sources[kind];
  const conditions = [also, matching.matches, searchable(caller, kind), ...narrowed];
  return sql`(select ${score} as score from ${from}
    where ${id} = ${sql.ref(`d.${key}`)} and ${sql.join(conditions, sql` and `)} offset 0)`;
}

/** The same for a gathered key `k`, whose document is read again. */
function foundOf({ caller, kind, matching, narrowed, score }: KindSearch): RawBuilder<unknown> {
  const { table, key } = documentsOf[kind];
  const { from, id } = sources[kind];
  const conditions = [matching.matches, searchable(caller, kind), ...narrowed];
  return sql`(select ${score} as score from ${sql.table(table)} d cross join ${from}
    where ${sql.ref(`d.${key}`)} = k.key and ${id} = k.key and ${sql.join(conditions, sql` and `)} offset 0)`;
}

/** Names and people have no time: all matches are sorted first, then checked. */
function gatheredAlone(wanted: KindSearch): InOrder {
  const { kind, matching, way, after, most } = wanted;
  const { from, id, at } = sources[kind];
  const direction = way === 'newest' ? sql`desc` : sql`asc`;
  const order = (alias: string) =>
    sql`${sql.ref(`${alias}.at`)} ${direction}, (${sql.ref(`${alias}.key`)}::text collate "C") ${direction}`;
  const rows = sql`select k.key, k.at, x.score from (
      select m.key, m.at from (select ${id} as key, ${at} as at from (${matching.gathered(sql`true`)}) g join ${from} on ${id} = g.key) m
      where ${after === null ? sql`true` : after(sql`m.at`, sql`m.key`)} order by ${order('m')} offset 0) k
    cross join lateral ${foundOf(wanted)} x
    order by ${order('k')} limit ${sql.lit(most)}`;
  return { before: [], rows };
}

/**
 * Returns the first rows of a kind, in order of time, that match and that the caller may find; exact with every plan.
 * Some documents are scanned. Depending on the result, the scan continues if the words are common; rows are gathered
 * from the index of words if they are rare; and if they are common but almost none may be found, the plan starts from
 * what the caller may find, or from the filters. Unused plans have a limit of 0 and do not run.
 */
export function inOrder(name: string, wanted: KindSearch): InOrder {
  const { caller, kind, matching, narrowed, way, after, most } = wanted;
  const { table, key, timed } = documentsOf[kind];
  if (!timed) return gatheredAlone(wanted);
  const { from, id, at } = sources[kind];
  const [walked, looked, near, beyond] = [
    `${name}_walked`,
    `${name}_looked`,
    `${name}_near`,
    `${name}_beyond`,
  ];
  const [direction, behind] = way === 'newest' ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  const dKey = sql.ref(`d.${key}`);
  const begins = after === null ? sql`true` : after(sql`d.at`, dKey);
  /** Conditions for what follows the scanned part; parameters of an index condition. */
  const isBeyond = (time: RawBuilder<unknown>, row: RawBuilder<unknown>) =>
    sql`(${time}, ${row}) ${behind} ((select at from ${sql.table(looked)}), (select key from ${sql.table(looked)}))`;
  const left = (plan: string) =>
    sql`(select case when plan = ${sql.lit(plan)} then ${most} - found else 0 end from ${sql.table(looked)})`;

  const whereabouts = searchCandidates(caller, kind);
  const within = [...(whereabouts === null ? [] : [whereabouts]), ...narrowed];
  const before = [
    sql`${sql.table(walked)} as materialized (
      select ${dKey} as key, d.at, d.is_likely, x.score
      from (select d.*, ${matching.likely} as is_likely from (
          select * from ${sql.table(table)} d where ${begins}
          order by d.at ${direction}, ${dKey} ${direction} limit ${sql.lit(WALKED)}) d offset 0) d
        left join lateral ${foundAt(wanted, sql`d.is_likely`)} x on true)`,
    sql`${sql.table(looked)} as materialized (
      select found, at, key, plan, case when plan = 'gather' and found >= ${TELLING} then (
          select d.at from ${sql.table(table)} d where ${begins} order by d.at ${direction}, ${dKey} ${direction}
          offset ${Math.ceil(most * ENOUGH)}::integer * seen / found limit 1) end as bound
      from (select found, seen, at, key, case when seen < ${sql.lit(WALKED)} or found >= ${most} then 'done'
          when likely * ${RARE} < seen then 'gather'
          when ${within.length === 0 ? sql`true` : sql`found * ${WITHHELD} >= likely`} then 'walk'
          else 'begin' end as plan
      from (select count(*) as seen, count(*) filter (where is_likely) as likely, count(score) as found
          from ${sql.table(walked)}) counted
        left join lateral (select w.at, w.key from ${sql.table(walked)} w
          order by w.at ${way === 'newest' ? sql`asc` : sql`desc`}, w.key ${way === 'newest' ? sql`asc` : sql`desc`}
          limit 1) last on true) planned)`,
  ];
  const walk = sql`(select ${dKey} as key, d.at, x.score from ${sql.table(table)} d
    cross join lateral ${foundAt(wanted, sql`true`)} x
    where ${isBeyond(sql`d.at`, dKey)} and ${matching.likely}
    order by d.at ${direction}, ${dKey} ${direction} limit ${left('walk')})`;
  const gatheredOf = (also: RawBuilder<boolean>, where: RawBuilder<unknown>, limit: RawBuilder<unknown>) =>
    sql`(select k.key, k.at, x.score from (
        select g.key, g.at from (${matching.gathered(also)} offset 0) g where ${isBeyond(sql`g.at`, sql`g.key`)} and ${where}
        order by g.at ${direction}, g.key ${direction} offset 0) k
      cross join lateral ${foundOf(wanted)} x
      order by k.at ${direction}, k.key ${direction} limit ${limit})`;
  const bound = sql`(select bound from ${sql.table(looked)})`;
  const end = sql`(select at from ${sql.table(looked)})`;
  // Both bounds, although one implies the other: the planner expects few rows in a range and uses both indexes.
  before.push(
    sql`${sql.table(near)} as materialized ${gatheredOf(
      way === 'newest' ? sql`d.at >= ${bound} and d.at <= ${end}` : sql`d.at <= ${bound} and d.at >= ${end}`,
      sql`true`,
      sql`(select case when bound is null then 0 else ${most} - found end from ${sql.table(looked)})`,
    )}`,
  );
  const gather = gatheredOf(
    sql`true`,
    sql`(g.at ${behind} ${bound}) is not false`,
    sql`(select case when plan = 'gather' then ${most} - found - (select count(*) from ${sql.table(near)}) else 0 end
      from ${sql.table(looked)})`,
  );
  // Few rows are expected: the filter is looked up separately, not during the scan.
  const begin =
    within.length === 0
      ? null
      : sql`(select k.key, k.at, x.score from (
            select ${id} as key, ${at} as at from ${from} where ${sql.join(within, sql` and `)} and ${isBeyond(at, id)}
            order by ${at} ${direction}, ${id} ${direction} offset 0) k
          cross join lateral ${foundOf({ ...wanted, narrowed: [matching.likely] })} x
          order by k.at ${direction}, k.key ${direction} limit ${left('begin')})`;
  before.push(
    sql`${sql.table(beyond)} as materialized (${sql.join(
      [walk, gather, ...(begin === null ? [] : [begin])],
      sql` union all `,
    )})`,
  );
  const rows = sql`select key, at, score from (
      select key, at, score from ${sql.table(walked)} where score is not null
      union all select key, at, score from ${sql.table(near)}
      union all select key, at, score from ${sql.table(beyond)}) f
    order by at ${direction}, key ${direction} limit ${sql.lit(most)}`;
  return { before, rows };
}
