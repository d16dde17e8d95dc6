import { getTimeline, type TimelineMonth } from '@vitrine/contract/browsing';
import { type RawBuilder, sql } from 'kysely';
import { countedParts, liveAsset, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { loneProfilePictures, notProfilePicture } from '../assets/profile-pictures.ts';

/** The account whose files are counted: null for all, undefined for an anonymous caller's own. */
function ownerOf(caller: Caller, of: string | undefined): number | null | undefined {
  if (of === undefined) return null;
  if (of !== 'me') return Number(of);
  return caller.kind === 'user' ? caller.ref : undefined;
}

/** Rows with a day and the number of its files. */
function daysOf(condition: RawBuilder<boolean>, sign = sql``): RawBuilder<unknown> {
  return sql`select a.taken_on, ${sign}count(*) as files from assets a where ${condition} group by a.taken_on`;
}

/** The days of everything that the caller is shown, as parts that are added. Most of it is counted by one index alone. */
function daysOfAll(caller: Caller): RawBuilder<unknown> {
  const { plain, rest } = countedParts(caller);
  return sql`${daysOf(plain)}
    union all ${daysOf(sql`${rest} and ${shownAssets(caller)} and ${notProfilePicture}`)}
    union all ${daysOf(sql`${plain} and ${loneProfilePictures}`, sql`-`)}`;
}

/**
 * `GET /assets/timeline` (BROWSE-1). Days are counted in the order of their index, and of months there are few, so that
 * no sort reads every file.
 */
export const timeline = handle(getTimeline, async ({ db }, { caller, query }) => {
  const owner = ownerOf(caller, query.of);
  if (owner === undefined) return { status: 200, body: { months: [] } };
  const days =
    owner === null
      ? daysOfAll(caller)
      : daysOf(sql`a.owner_user_ref = ${owner} and ${liveAsset} and ${shownAssets(caller)}`);
  const { rows } = await sql<TimelineMonth>`
    select case when months.month is not null then to_char(months.month, 'YYYY-MM') end as month, months.count
    from (
      select date_trunc('month', day.taken_on::timestamp) as month, sum(day.files) as count
      from (${days}) day group by 1) months
    where months.count > 0
    order by months.month desc nulls last`.execute(db);
  return { status: 200, body: { months: rows } };
});
