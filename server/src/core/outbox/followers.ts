import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { enqueueAll } from '../job-table.ts';

/**
 * Enqueues the notification of the followers of these posts, a query with the column `post_id`: if their author is
 * followable, or followers know them.
 */
export async function notifyFollowersOfEach(tx: Tx, posts: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ post_id: string }>`select distinct changed.post_id from (${posts}) changed
    where exists (select from activitypub_posts ap where ap.post_id = changed.post_id and not ap.withdrawn)
      or exists (select from posts p join activitypub_actors ap on ap.user_ref = p.author_user_ref
        where p.id = changed.post_id and ap.withdrawn_at is null)`.execute(tx);
  const jobs = rows.map(({ post_id }) => ({
    payload: { post: post_id },
    key: `notify-followers:${post_id}`,
  }));
  await enqueueAll(tx, 'notify-followers', jobs);
}

/** Enqueues the notification of a post's followers in the transaction of its change (AP-8). */
export async function notifyFollowers(tx: Tx, postId: string): Promise<void> {
  await notifyFollowersOfEach(tx, sql`select ${postId}::uuid as post_id`);
}

/** The same for the posts that contain an asset. */
export async function notifyFollowersOfAsset(tx: Tx, assetId: string): Promise<void> {
  await notifyFollowersOfEach(tx, sql`select m.post_id from post_members m where m.asset_id = ${assetId}`);
}

/** The same for the posts that contain an asset with these bytes. */
export async function notifyFollowersOfFile(tx: Tx, hash: string): Promise<void> {
  await notifyFollowersOfEach(
    tx,
    sql`select m.post_id from assets a join post_members m on m.asset_id = a.id where a.file_hash = ${hash}`,
  );
}
