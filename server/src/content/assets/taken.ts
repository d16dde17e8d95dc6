import { type RawBuilder, sql } from 'kysely';
import { boxOf, placesWithin } from './places.ts';

interface TakenQuery {
  taken_month?: string;
  taken_day?: string;
  bbox?: string;
}

/**
 * Assets of a month on the clock where they were taken (BROWSE-3). The second condition is the range of the index in the
 * order of times, which may be of another day in UTC.
 */
function ofMonth(month: string): RawBuilder<boolean> {
  if (month === 'unknown') return sql`(a.deleted_at is null and a.taken_on is null)`;
  const first = sql`${`${month}-01`}::date`;
  return sql`(a.taken_on >= ${first} and a.taken_on < (${first} + interval '1 month')::date
    and coalesce(a.taken_at, a.created_at) >= ${first}::timestamp at time zone 'UTC' - interval '1 day'
    and coalesce(a.taken_at, a.created_at) < (${first} + interval '1 month') at time zone 'UTC' + interval '1 day')`;
}

/** Assets of this day of any year. The expressions are those of the index. */
function ofDay(day: string): RawBuilder<boolean> {
  const [month, date] = day.split('-').map(Number);
  return sql`(a.deleted_at is null and a.taken_on is not null
    and extract(month from a.taken_on) = ${month}::numeric and extract(day from a.taken_on) = ${date}::numeric)`;
}

/** The filters of lists of assets by when and where they were taken. */
export function takenFilters({ taken_month, taken_day, bbox }: TakenQuery): RawBuilder<boolean>[] {
  return [
    ...(taken_month === undefined ? [] : [ofMonth(taken_month)]),
    ...(taken_day === undefined ? [] : [ofDay(taken_day)]),
    ...(bbox === undefined ? [] : [placesWithin(boxOf(bbox))]),
  ];
}
