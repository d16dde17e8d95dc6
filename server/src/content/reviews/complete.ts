import { sql } from 'kysely';
import { awaitedDecision, countingDecision } from '../../access/reviews.ts';
import type { Database } from '../../platform/database/pool.ts';

/** Returns whether everyone who is asked in a review has approved the present version, as far as they are active. */
export async function isComplete(db: Database, id: string): Promise<boolean> {
  const { rows } = await sql<{ complete: boolean }>`
    select not exists (select from review_reviewers rr join users ru on ru.ref = rr.user_ref
      where rr.review_id = r.id and (${awaitedDecision} or (${countingDecision} and rr.decision <> 'approved'))) as complete
    from reviews r join reviewed_posts rp on rp.post_id = r.post_id where r.id = ${id}`.execute(db);
  return rows[0]?.complete === true;
}
