import { type RawBuilder, sql } from 'kysely';
import { searchCandidates } from '../../../access/candidates.ts';
import { sources } from '../../search-index/sources.ts';
import { isBeyond, type KindSearch, missingAfter, type OrderedSearch } from './kind-search.ts';
import { scoreOfKey } from './scores.ts';

/** What the caller may find, or what passes the filters: conditions on the row. Empty where nothing is excluded. */
export function readableOnly({ caller, kind, filters }: KindSearch): RawBuilder<boolean>[] {
  const candidates = searchCandidates(caller, kind);
  return [...(candidates === null ? [] : [candidates]), ...filters];
}

/**
 * The plan for common words of which almost none may be found: starts from rows that meet these conditions. Few rows are
 * expected, so a filter is looked up separately, not during the scan.
 */
export function startFromReadable(
  ordering: OrderedSearch,
  conditions: readonly RawBuilder<boolean>[],
): RawBuilder<unknown> {
  const { search, direction } = ordering;
  const { from, id, at } = sources[search.kind];
  return sql`(select k.key, k.at, x.score from (
            select ${id} as key, ${at} as at from ${from} where ${sql.join(conditions, sql` and `)} and ${isBeyond(ordering, 'plan', { at, key: id })}
            order by ${at} ${direction}, ${id} ${direction} offset 0) k
          cross join lateral ${scoreOfKey({ ...search, filters: [] }, [search.matching.likely])} x
          order by k.at ${direction}, k.key ${direction} limit ${missingAfter(ordering, 'plan', 'readable')})`;
}
