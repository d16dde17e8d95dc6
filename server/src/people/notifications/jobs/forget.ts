import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';

/** Notifications are news, not a record: they are removed after this time, read or not. */
const DAYS = 180;
const BATCH = 5000;

export function forgetNotificationsJob({ db }: Pick<Deps, 'db'>): JobHandler<'forget-notifications'> {
  return async () => {
    for (let count = BATCH; count === BATCH; ) {
      const { numAffectedRows } = await sql`delete from notifications where id in (
        select id from notifications where happened_at < now() - make_interval(days => ${DAYS}) limit ${BATCH})`.execute(
        db,
      );
      count = Number(numAffectedRows ?? 0n);
    }
  };
}
