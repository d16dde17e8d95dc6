import { sql } from 'kysely';
import { livePost } from '../../../access/posts.ts';
import { openReview } from '../../../access/reviews.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { announceAll } from '../../../people/notifications/announce.ts';
import type { Tx } from '../../../platform/database/pool.ts';

/** How many reviews one run reminds of. The next run goes on. */
const MOST_REMINDED = 500;

type When = 'before' | 'after';

const due = {
  before: sql<boolean>`(not r.reminded_before and r.due_at < now() + interval '1 day' and r.due_at > now())`,
  after: sql<boolean>`(not r.reminded_after and r.due_at <= now())`,
} as const satisfies Readonly<Record<When, unknown>>;

/** Marks open reviews as reminded of, and announces the reminders in the same transaction. */
async function remind(tx: Tx, when: When): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update reviews x set reminded_before = true, reminded_after = ${when === 'after'}
    where x.id in (select r.id from reviews r join posts p on p.id = r.post_id
      where ${openReview} and ${livePost} and ${due[when]}
      order by r.due_at limit ${MOST_REMINDED} for update of r skip locked)
    returning x.id`.execute(tx);
  await announceAll(
    tx,
    rows.map(({ id }) => ({ what: 'review_due', review: id, when })),
  );
}

/** REVIEW-11: reminds of open reviews a day before they are due, and once after. Runs every five minutes. */
export function remindReviewsJob({ db }: Pick<Deps, 'db'>): JobHandler<'remind-reviews'> {
  return async () => {
    await db.transaction().execute(async (tx) => {
      await remind(tx, 'before');
      await remind(tx, 'after');
    });
  };
}
