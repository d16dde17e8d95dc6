import { sql } from 'kysely';
import { documentsOf } from '../../search-index/matching.ts';
import { choosePlan } from './choose.ts';
import { gatherAll, gatherBeyond, gatherNear } from './gather.ts';
import { type InOrder, type KindSearch, ordered, stepOf } from './kind-search.ts';
import { readableOnly, startFromReadable } from './readable.ts';
import { scanOn, scanTogether } from './scan.ts';

/**
 * Returns the first rows of a kind, in order of time, that match and that the caller may find; exact with every plan.
 * Some documents are scanned. Depending on the result, as many more as needed are scored together if the words are
 * common, and then the scan continues; rows are gathered from the index of words if they are rare; and if they are
 * common but almost none may be found, the plan starts from what the caller may find, or from the filters. Unused plans
 * have a limit of 0 and do not run. docs/architecture.md shows a statement.
 */
export function inOrder(name: string, search: KindSearch): InOrder {
  if (!documentsOf[search.kind].timed) return gatherAll(search);
  const ordering = ordered(name, search);
  const { step, direction } = ordering;
  const conditions = readableOnly(search);
  const beyond = [
    scanOn(ordering),
    gatherBeyond(ordering),
    ...(conditions.length === 0 ? [] : [startFromReadable(ordering, conditions)]),
  ];
  const before = [
    ...choosePlan(ordering, conditions.length > 0),
    ...scanTogether(ordering),
    gatherNear(ordering),
    stepOf(ordering, 'beyond', sql.join(beyond, sql` union all `)),
  ];
  const rows = sql`select key, at, score from (
      select key, at, score from ${step('scanned')} where score is not null
      union all select key, at, score from ${step('joined')} where score is not null
      union all select key, at, score from ${step('near')}
      union all select key, at, score from ${step('beyond')}) f
    order by at ${direction}, key ${direction} limit ${sql.lit(search.most)}`;
  return { before, rows };
}
