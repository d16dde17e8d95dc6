import { type RawBuilder, sql } from 'kysely';
import { documentsOf } from '../../search-index/matching.ts';
import { documents, lastOf, type OrderedSearch, stepOf } from './kind-search.ts';
import { scoredTogether } from './scores.ts';

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

/**
 * The first steps of every search: scans some documents and chooses the plan for the others. The step `plan` has one row:
 * the plan or `done`, the hits `found`, the last document (`at`, `key`), the time `bound` until which `gather` looks first,
 * and how many `more` documents `scan` scores together.
 */
export function choosePlan(ordering: OrderedSearch, mayStartFromReadable: boolean): RawBuilder<unknown>[] {
  const { search, step, direction, key, begins } = ordering;
  const { most } = search;
  const table = sql.table(documentsOf[search.kind].table);
  return [
    stepOf(ordering, 'first_documents', documents(ordering, begins, sql.lit(SCANNED))),
    stepOf(ordering, 'scanned', scoredTogether(search, step('first_documents'))),
    stepOf(
      ordering,
      'plan',
      sql`
      select found, at, key, plan, case when plan = 'gather' and found >= ${LEAST_TO_PREDICT} then (
          select d.at from ${table} d where ${begins} order by d.at ${direction}, ${key} ${direction}
          offset ${Math.ceil(most * ENOUGH)}::integer * seen / found limit 1) end as bound,
        case when plan = 'scan' and found * ${DENSE} >= seen
          then ceil((${most} - found) * seen * ${SPARE}::float8 / found)::bigint else 0 end as more
      from (select found, seen, at, key, case when seen < ${sql.lit(SCANNED)} or found >= ${most} then 'done'
          when likely * ${RARE} < seen then 'gather'
          when ${mayStartFromReadable ? sql`found * ${WITHHELD} >= likely` : sql`true`} then 'scan'
          else 'readable' end as plan
      from (select count(*) as seen, count(*) filter (where is_likely) as likely, count(score) as found
          from ${step('scanned')}) counted
        left join lateral ${lastOf(ordering, 'scanned')} last on true) planned`,
    ),
  ];
}
