import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { searchable, searchableBetween, searchableByAnyone } from '../../../access/search.ts';
import { documentsOf } from '../../search-index/matching.ts';
import { sources } from '../../search-index/sources.ts';
import type { KindSearch } from './kind-search.ts';

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
export function scoreOfDocument(search: KindSearch): RawBuilder<unknown> {
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
export function scoredTogether(search: KindSearch, docs: RawBuilder<unknown>): RawBuilder<unknown> {
  const { caller, kind, score } = search;
  if (!isTimed(kind)) throw new Error(`documents of ${kind} have no time`);
  const { from, alias, id, at } = sources[kind];
  const range = {
    from: sql`(select min(at) from ${docs})`,
    to: sql`(select max(at) from ${docs})`,
  };
  const found = hitConditions(search, searchableBetween(caller, kind, range), [
    sql`d.is_likely`,
    sql`${id} is not null`,
  ]);
  const key = sql.ref(`d.${documentsOf[kind].key}`);
  return sql`select ${key} as key, d.at, d.is_likely, case when ${found} then ${score} end as score
    from ${docs} d left join (select * from ${from}
      where ${at} >= ${range.from} and ${at} <= ${range.to} and ${searchableByAnyone(kind)} offset 0) ${sql.ref(alias)}
    on ${id} = ${key}`;
}

/** The score of a gathered key `k`, whose document is read again. */
export function scoreOfKey(
  search: KindSearch,
  also: readonly RawBuilder<unknown>[] = [],
): RawBuilder<unknown> {
  const { caller, kind, score } = search;
  const { table, key } = documentsOf[kind];
  const { from, id } = sources[kind];
  return sql`(select ${score} as score from ${sql.table(table)} d cross join ${from}
    where ${sql.ref(`d.${key}`)} = k.key and ${id} = k.key
      and ${hitConditions(search, searchable(caller, kind), also)} offset 0)`;
}
