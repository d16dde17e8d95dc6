import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { searchCandidates } from '../../access/candidates.ts';
import { searchable, searchableBetween, searchableByAnyone } from '../../access/search.ts';
import { documentsOf, type Matching } from '../search-index/matching.ts';
import { sources } from '../search-index/sources.ts';

/** Number of documents scanned first, to choose the best plan for the others. */
const SCANNED = 500;
/** Words that fewer than one in this many documents have are gathered from the index of words. */
const RARE = 33;
/** Gathers from times in which the scan predicts more than enough hits; other times only if these did not suffice. */
const ENOUGH = 1.5;
/** With fewer hits than this, the scan does not predict the number of hits. */
const LEAST_TO_PREDICT = 4;
/** When the caller may find fewer than one in this many matches, the plan starts from what they may find. */
const WITHHELD = 10;

/** When more than one in this many scanned documents is a hit, as many of the next ones as needed are scored together. */
const DENSE = 8;
/** Scores more documents together than the scan predicts, so that they are rarely too few. */
const SPARE = 1.1;

/** What to search for in a kind. */
export interface KindSearch {
  caller: Caller;
  kind: SearchKind;
  matching: Matching;
  /** Conditions on the row besides the rule of its kind. */
  filters: readonly RawBuilder<boolean>[];
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

/** The kinds whose documents have a time and are read in its order. */
type TimedKind = 'post' | 'asset' | 'collection';

function isTimed(kind: SearchKind): kind is TimedKind {
  return documentsOf[kind].timed;
}

/** Whether a row of a candidate document `d` is a hit. */
function hitConditions(
  { matching, filters }: KindSearch,
  rule: RawBuilder<boolean>,
  also: readonly RawBuilder<unknown>[] = [],
): RawBuilder<unknown> {
  return sql.join([...also, matching.matches, rule, ...filters], sql` and `);
}

/** The score of a candidate document `d`: no row unless it matches and may be found. */
function scoreOfDocument(search: KindSearch): RawBuilder<unknown> {
  const { caller, kind, score } = search;
  const { from, id } = sources[kind];
  return sql`(select ${score} as score from ${from}
    where ${id} = ${sql.ref(`d.${documentsOf[kind].key}`)} and ${hitConditions(search, searchable(caller, kind))} offset 0)`;
}

/**
 * The documents of `docs`, which are adjacent in time, with the score of each that is found, otherwise null. Their rows
 * are read as one range of the index of times and joined: looking each of them up by its key takes several times as
 * long. The condition is an expression, so that it is evaluated only for rows of documents that are likely to match.
 */
function scoredTogether(search: KindSearch, docs: string): RawBuilder<unknown> {
  const { caller, kind, score } = search;
  if (!isTimed(kind)) throw new Error(`documents of ${kind} have no time`);
  const { from, alias, id, at } = sources[kind];
  const range = {
    from: sql`(select min(at) from ${sql.table(docs)})`,
    to: sql`(select max(at) from ${sql.table(docs)})`,
  };
  const found = hitConditions(search, searchableBetween(caller, kind, range), [
    sql`d.is_likely`,
    sql`${id} is not null`,
  ]);
  const dKey = sql.ref(`d.${documentsOf[kind].key}`);
  return sql`select ${dKey} as key, d.at, d.is_likely, case when ${found} then ${score} end as score
    from ${sql.table(docs)} d left join (select * from ${from}
      where ${at} >= ${range.from} and ${at} <= ${range.to} and ${searchableByAnyone(kind)} offset 0) ${sql.ref(alias)}
    on ${id} = ${dKey}`;
}

/** The same for a gathered key `k`, whose document is read again. */
function scoreOfKey(search: KindSearch, also: readonly RawBuilder<unknown>[] = []): RawBuilder<unknown> {
  const { caller, kind, score } = search;
  const { table, key } = documentsOf[kind];
  const { from, id } = sources[kind];
  return sql`(select ${score} as score from ${sql.table(table)} d cross join ${from}
    where ${sql.ref(`d.${key}`)} = k.key and ${id} = k.key
      and ${hitConditions(search, searchable(caller, kind), also)} offset 0)`;
}

/** Names and people have no time: all matches are sorted first, then checked. */
function gatheredAlone(search: KindSearch): InOrder {
  const { kind, matching, way, after, most } = search;
  const { from, id, at } = sources[kind];
  const direction = way === 'newest' ? sql`desc` : sql`asc`;
  const order = (alias: string) =>
    sql`${sql.ref(`${alias}.at`)} ${direction}, (${sql.ref(`${alias}.key`)}::text collate "C") ${direction}`;
  const rows = sql`select k.key, k.at, x.score from (
      select m.key, m.at from (select ${id} as key, ${at} as at from (${matching.gathered(sql`true`)}) g join ${from} on ${id} = g.key) m
      where ${after === null ? sql`true` : after(sql`m.at`, sql`m.key`)} order by ${order('m')} offset 0) k
    cross join lateral ${scoreOfKey(search)} x
    order by ${order('k')} limit ${sql.lit(most)}`;
  return { before: [], rows };
}

/**
 * Returns the first rows of a kind, in order of time, that match and that the caller may find; exact with every plan.
 * Some documents are scanned. Depending on the result, as many more as needed are scored together if the words are
 * common, and then the scan continues; rows are gathered from the index of words if they are rare; and if they are
 * common but almost none may be found, the plan starts from what the caller may find, or from the filters. Unused plans
 * have a limit of 0 and do not run.
 */
export function inOrder(name: string, search: KindSearch): InOrder {
  const { caller, kind, matching, filters, way, after, most } = search;
  const { table, key, timed } = documentsOf[kind];
  if (!timed) return gatheredAlone(search);
  const { from, id, at } = sources[kind];
  const part = (step: string) => `${name}_${step}`;
  const first = part('first_documents');
  const scanned = part('scanned');
  const plan = part('plan');
  const next = part('next_documents');
  const joined = part('joined');
  const progress = part('progress');
  const near = part('near');
  const beyond = part('beyond');
  const [direction, reverse, comparison] =
    way === 'newest' ? [sql`desc`, sql`asc`, sql`<`] : [sql`asc`, sql`desc`, sql`>`];
  const dKey = sql.ref(`d.${key}`);
  const begins = after === null ? sql`true` : after(sql`d.at`, dKey);
  /** The condition for rows after the last row of a step; its subqueries are parameters of an index condition. */
  const isBeyond = (step: string, time: RawBuilder<unknown>, row: RawBuilder<unknown>) =>
    sql`(${time}, ${row}) ${comparison} ((select at from ${sql.table(step)}), (select key from ${sql.table(step)}))`;
  const lastOf = (step: string) => sql`(select w.at, w.key from ${sql.table(step)} w
    order by w.at ${reverse}, w.key ${reverse} limit 1)`;
  const left = (choice: string, from: string) =>
    sql`(select case when plan = ${sql.lit(choice)} then greatest(${most} - found, 0) else 0 end from ${sql.table(from)})`;
  /** The next documents, each with whether it is likely to match. */
  const documents = (where: RawBuilder<unknown>, limit: RawBuilder<unknown>) =>
    sql`select d.*, ${matching.likely} as is_likely from (select * from ${sql.table(table)} d where ${where}
      order by d.at ${direction}, ${dKey} ${direction} limit ${limit}) d offset 0`;

  const candidates = searchCandidates(caller, kind);
  const readableOnly = [...(candidates === null ? [] : [candidates]), ...filters];
  const before = [
    sql`${sql.table(first)} as materialized (${documents(begins, sql.lit(SCANNED))})`,
    sql`${sql.table(scanned)} as materialized (${scoredTogether(search, first)})`,
    sql`${sql.table(plan)} as materialized (
      select found, at, key, plan, case when plan = 'gather' and found >= ${LEAST_TO_PREDICT} then (
          select d.at from ${sql.table(table)} d where ${begins} order by d.at ${direction}, ${dKey} ${direction}
          offset ${Math.ceil(most * ENOUGH)}::integer * seen / found limit 1) end as bound,
        case when plan = 'scan' and found * ${DENSE} >= seen
          then ceil((${most} - found) * seen * ${SPARE}::float8 / found)::bigint else 0 end as more
      from (select found, seen, at, key, case when seen < ${sql.lit(SCANNED)} or found >= ${most} then 'done'
          when likely * ${RARE} < seen then 'gather'
          when ${readableOnly.length === 0 ? sql`true` : sql`found * ${WITHHELD} >= likely`} then 'scan'
          else 'readable' end as plan
      from (select count(*) as seen, count(*) filter (where is_likely) as likely, count(score) as found
          from ${sql.table(scanned)}) counted
        left join lateral ${lastOf(scanned)} last on true) planned)`,
    sql`${sql.table(next)} as materialized (${documents(
      isBeyond(plan, sql`d.at`, dKey),
      sql`(select more from ${sql.table(plan)})`,
    )})`,
    sql`${sql.table(joined)} as materialized (${scoredTogether(search, next)})`,
    sql`${sql.table(progress)} as materialized (
      select plan, found + (select count(score) from ${sql.table(joined)}) as found,
        coalesce(last.at, l.at) as at, coalesce(last.key, l.key) as key
      from ${sql.table(plan)} l left join lateral ${lastOf(joined)} last on true)`,
  ];
  const scan = sql`(select ${dKey} as key, d.at, x.score from ${sql.table(table)} d
    cross join lateral ${scoreOfDocument(search)} x
    where ${isBeyond(progress, sql`d.at`, dKey)} and ${matching.likely}
    order by d.at ${direction}, ${dKey} ${direction} limit ${left('scan', progress)})`;
  const gatheredOf = (also: RawBuilder<boolean>, where: RawBuilder<unknown>, limit: RawBuilder<unknown>) =>
    sql`(select k.key, k.at, x.score from (
        select g.key, g.at from (${matching.gathered(also)} offset 0) g
        where ${isBeyond(plan, sql`g.at`, sql`g.key`)} and ${where}
        order by g.at ${direction}, g.key ${direction} offset 0) k
      cross join lateral ${scoreOfKey(search)} x
      order by k.at ${direction}, k.key ${direction} limit ${limit})`;
  const bound = sql`(select bound from ${sql.table(plan)})`;
  const end = sql`(select at from ${sql.table(plan)})`;
  // Both bounds, although one implies the other: the planner expects few rows in a range and uses both indexes.
  before.push(
    sql`${sql.table(near)} as materialized ${gatheredOf(
      way === 'newest' ? sql`d.at >= ${bound} and d.at <= ${end}` : sql`d.at <= ${bound} and d.at >= ${end}`,
      sql`true`,
      sql`(select case when bound is null then 0 else ${most} - found end from ${sql.table(plan)})`,
    )}`,
  );
  const gather = gatheredOf(
    sql`true`,
    sql`(g.at ${comparison} ${bound}) is not false`,
    sql`(select case when plan = 'gather' then ${most} - found - (select count(*) from ${sql.table(near)}) else 0 end
      from ${sql.table(plan)})`,
  );
  // Few rows are expected: the filter is looked up separately, not during the scan.
  const readable =
    readableOnly.length === 0
      ? null
      : sql`(select k.key, k.at, x.score from (
            select ${id} as key, ${at} as at from ${from} where ${sql.join(readableOnly, sql` and `)} and ${isBeyond(plan, at, id)}
            order by ${at} ${direction}, ${id} ${direction} offset 0) k
          cross join lateral ${scoreOfKey({ ...search, filters: [] }, [matching.likely])} x
          order by k.at ${direction}, k.key ${direction} limit ${left('readable', plan)})`;
  before.push(
    sql`${sql.table(beyond)} as materialized (${sql.join(
      [scan, gather, ...(readable === null ? [] : [readable])],
      sql` union all `,
    )})`,
  );
  const rows = sql`select key, at, score from (
      select key, at, score from ${sql.table(scanned)} where score is not null
      union all select key, at, score from ${sql.table(joined)} where score is not null
      union all select key, at, score from ${sql.table(near)}
      union all select key, at, score from ${sql.table(beyond)}) f
    order by at ${direction}, key ${direction} limit ${sql.lit(most)}`;
  return { before, rows };
}
