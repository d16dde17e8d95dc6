import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

/**
 * REVIEW-13: notifies the open streams of the posts of these reviews `r` once the transaction is committed. Each stream
 * decides what its caller may know when it reads the message (live/look-at-post.ts).
 */
export async function sendReviewEvents(tx: Tx, which: RawBuilder<boolean>): Promise<void> {
  await sql`select tell_post(r.post_id, 'decision ' || r.id) from reviews r where ${which}`.execute(tx);
}
