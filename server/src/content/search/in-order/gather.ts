import { type RawBuilder, sql } from 'kysely';
import { sources } from '../../search-index/sources.ts';
import { type InOrder, isBeyond, type KindSearch, type OrderedSearch } from './kind-search.ts';
import { scoreOfKey } from './scores.ts';

/** Gathers documents from the index of words, sorts them, and then decides which of them are hits. */
function gathered(
  ordering: OrderedSearch,
  also: RawBuilder<boolean>,
  where: RawBuilder<unknown>,
  limit: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { search, direction } = ordering;
  return sql`(select k.key, k.at, x.score from (
        select g.key, g.at from (${search.matching.gathered(also)} offset 0) g
        where ${isBeyond(ordering, 'plan', { at: sql`g.at`, key: sql`g.key` })} and ${where}
        order by g.at ${direction}, g.key ${direction} offset 0) k
      cross join lateral ${scoreOfKey(search)} x
      order by k.at ${direction}, k.key ${direction} limit ${limit})`;
}

const boundOf = ({ step }: OrderedSearch) => sql`(select bound from ${step('plan')})`;

/** The plan for rare words, first among the documents until the bound of the plan. */
export function gatherNear(ordering: OrderedSearch): RawBuilder<unknown> {
  const { search, step } = ordering;
  const [bound, end] = [boundOf(ordering), sql`(select at from ${step('plan')})`];
  // Both bounds, although one implies the other: the planner expects few rows in a range and uses both indexes.
  const range =
    search.way === 'newest'
      ? sql<boolean>`d.at >= ${bound} and d.at <= ${end}`
      : sql<boolean>`d.at <= ${bound} and d.at >= ${end}`;
  return sql`${step('near')} as materialized ${gathered(
    ordering,
    range,
    sql`true`,
    sql`(select case when bound is null then 0 else ${search.most} - found end from ${step('plan')})`,
  )}`;
}

/** Gathers beyond the bound, if these documents did not suffice. */
export function gatherBeyond(ordering: OrderedSearch): RawBuilder<unknown> {
  const { search, step, comparison } = ordering;
  return gathered(
    ordering,
    sql`true`,
    sql`(g.at ${comparison} ${boundOf(ordering)}) is not false`,
    sql`(select case when plan = 'gather' then ${search.most} - found - (select count(*) from ${step('near')}) else 0 end
      from ${step('plan')})`,
  );
}

/** Names and people have no time: all matches are sorted first, then checked. */
export function gatherAll(search: KindSearch): InOrder {
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
