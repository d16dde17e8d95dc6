import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { searchable } from '../access/search.ts';
import { whereaboutsOf } from '../access/whereabouts.ts';
import { documentsOf, type Matching } from '../search-index/matching.ts';
import { sources } from '../search-index/sources.ts';

/** So many documents are walked before anything else: they tell what is the shortest way to the others. */
const WALKED = 500;
/** Words that fewer than one in so many of them have are gathered from the index of words. */
const RARE = 33;
/** Gathered are those of a time that, by the walk, has more than enough; the others only when it did not. */
const ENOUGH = 1.5;
/** With fewer hits than this the walk tells nothing of how many there are. */
const TELLING = 4;
/** When fewer than one in so many that match may be found, the plan begins with what may be. */
const WITHHELD = 10;

/** What is looked for of a kind. */
export interface Wanted {
  caller: Caller;
  kind: SearchKind;
  matching: Matching;
  /** Conditions on the row beside the rule of its kind. */
  narrowed: readonly RawBuilder<boolean>[];
  /** How well a row does that matches. */
  score: RawBuilder<number>;
  way: 'newest' | 'oldest';
  /** Where to begin, in terms of a time and a key; null from the start. */
  after: ((at: RawBuilder<unknown>, id: RawBuilder<unknown>) => RawBuilder<boolean>) | null;
  most: number;
  /** How many documents to walk first, where another number tells more. */
  walk?: number;
}

/** A part of a statement: what it needs before it, and rows of `key`, `at` and `score`. */
export interface InOrder {
  before: RawBuilder<unknown>[];
  rows: RawBuilder<unknown>;
}

/** The score of the row that a likely document `d` is of: no row unless it may be found and does match. */
function foundAt(
  { caller, kind, matching, narrowed, score }: Wanted,
  also: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { key } = documentsOf[kind];
  const { from, id } = sources[kind];
  const conditions = [also, matching.matches, searchable(caller, kind), ...narrowed];
  return sql`(select ${score} as score from ${from}
    where ${id} = ${sql.ref(`d.${key}`)} and ${sql.join(conditions, sql` and `)} offset 0)`;
}

/** The same for a gathered key `k`, whose document is read again. */
function foundOf({ caller, kind, matching, narrowed, score }: Wanted): RawBuilder<unknown> {
  const { table, key } = documentsOf[kind];
  const { from, id } = sources[kind];
  const conditions = [matching.matches, searchable(caller, kind), ...narrowed];
  return sql`(select ${score} as score from ${sql.table(table)} d cross join ${from}
    where ${sql.ref(`d.${key}`)} = k.key and ${id} = k.key and ${sql.join(conditions, sql` and `)} offset 0)`;
}

/** Names and people have no order of their own among documents: all that match are put in order, then asked for. */
function gatheredAlone(wanted: Wanted): InOrder {
  const { kind, matching, way, after, most } = wanted;
  const { from, id, at } = sources[kind];
  const direction = way === 'newest' ? sql`desc` : sql`asc`;
  const order = (alias: string) =>
    sql`${sql.ref(`${alias}.at`)} ${direction}, (${sql.ref(`${alias}.key`)}::text collate "C") ${direction}`;
  const rows = sql`select k.key, k.at, x.score from (
      select m.key, m.at from (select ${id} as key, ${at} as at from (${matching.gathered(sql`true`)}) g join ${from} on ${id} = g.key) m
      where ${after === null ? sql`true` : after(sql`m.at`, sql`m.key`)} order by ${order('m')} offset 0) k
    cross join lateral ${foundOf(wanted)} x
    order by ${order('k')} limit ${most}`;
  return { before: [], rows };
}

/**
 * The first rows of a kind, in the order of time, that match and that the caller may find; exact, whatever way leads to
 * them. Some documents are walked. Then, by what they tell: the walk goes on where the words are common; they are
 * gathered from the index of words where they are rare; and where they are common but next to nothing that has them may
 * be found, the plan begins with what the caller may find, or with what the search is narrowed to. Ways not taken are
 * not run: their limit is nothing.
 */
export function inOrder(name: string, wanted: Wanted): InOrder {
  const { caller, kind, matching, narrowed, way, after, walk: walks = WALKED, most } = wanted;
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
  /** Behind what was walked; as parameters of an index condition. */
  const isBeyond = (time: RawBuilder<unknown>, row: RawBuilder<unknown>) =>
    sql`(${time}, ${row}) ${behind} ((select at from ${sql.table(looked)}), (select key from ${sql.table(looked)}))`;
  const left = (plan: string) =>
    sql`(select case when plan = ${sql.lit(plan)} then ${most} - found else 0 end from ${sql.table(looked)})`;

  const whereabouts = whereaboutsOf(caller, kind);
  const within = [...(whereabouts === null ? [] : [whereabouts]), ...narrowed];
  const before = [
    sql`${sql.table(walked)} as materialized (
      select ${dKey} as key, d.at, d.is_likely, x.score
      from (select d.*, ${matching.likely} as is_likely from (
          select * from ${sql.table(table)} d where ${begins}
          order by d.at ${direction}, ${dKey} ${direction} limit ${walks}) d offset 0) d
        left join lateral ${foundAt(wanted, sql`d.is_likely`)} x on true)`,
    sql`${sql.table(looked)} as materialized (
      select found, at, key, plan, case when plan = 'gather' and found >= ${TELLING} then (
          select d.at from ${sql.table(table)} d where ${begins} order by d.at ${direction}, ${dKey} ${direction}
          offset ${Math.ceil(most * ENOUGH)}::integer * seen / found limit 1) end as bound
      from (select found, seen, at, key, case when seen < ${walks} or found >= ${most} then 'done'
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
  // Both ends, though one says it all: of a range the planner expects little, and takes both indexes.
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
  // Few are expected: what narrows is looked up by itself, not while the list is walked.
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
    order by at ${direction}, key ${direction} limit ${most}`;
  return { before, rows };
}
