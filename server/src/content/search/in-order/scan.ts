import { type RawBuilder, sql } from 'kysely';
import { documentsOf } from '../../search-index/matching.ts';
import { documents, isBeyond, lastOf, missingAfter, type OrderedSearch, stepOf } from './kind-search.ts';
import { scoredTogether, scoreOfDocument } from './scores.ts';

/** The plan for common words: as many of the next documents as the plan expects to need are scored together. */
export function scanTogether(ordering: OrderedSearch): RawBuilder<unknown>[] {
  const { search, step, key } = ordering;
  return [
    stepOf(
      ordering,
      'next_documents',
      documents(
        ordering,
        isBeyond(ordering, 'plan', { at: sql`d.at`, key }),
        sql`(select more from ${step('plan')})`,
      ),
    ),
    stepOf(ordering, 'joined', scoredTogether(search, step('next_documents'))),
    stepOf(
      ordering,
      'progress',
      sql`
      select plan, found + (select count(score) from ${step('joined')}) as found,
        coalesce(last.at, l.at) as at, coalesce(last.key, l.key) as key
      from ${step('plan')} l left join lateral ${lastOf(ordering, 'joined')} last on true`,
    ),
  ];
}

/** Continues the scan, document by document, until there are enough hits. */
export function scanOn(ordering: OrderedSearch): RawBuilder<unknown> {
  const { search, direction, key } = ordering;
  return sql`(select ${key} as key, d.at, x.score from ${sql.table(documentsOf[search.kind].table)} d
    cross join lateral ${scoreOfDocument(search)} x
    where ${isBeyond(ordering, 'progress', { at: sql`d.at`, key })} and ${search.matching.likely}
    order by d.at ${direction}, ${key} ${direction} limit ${missingAfter(ordering, 'progress', 'scan')})`;
}
