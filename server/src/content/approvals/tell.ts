import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

/**
 * REVIEW-13: tells those who look at the post of each of these reviews `r`, once the transaction is committed. What each
 * of them may know is decided when the message is read (live/look-at-post.ts).
 */
export async function tellOfReviews(tx: Tx, which: RawBuilder<boolean>): Promise<void> {
  await sql`select tell_post(r.post_id, 'decision ' || r.id) from reviews r where ${which}`.execute(tx);
}
