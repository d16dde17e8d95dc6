import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { checkMayPublish } from '../../access/posts.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';

/**
 * POST-47: schedules the publication of a locked draft, with the rights of the caller and the approvals at that time
 * (APPROVAL-3). Replaces an earlier schedule. Throws 400 for a time in the past.
 */
export async function schedule(
  tx: Tx,
  caller: SignedIn,
  postId: string,
  at: string,
  overrideReason: string | null,
): Promise<void> {
  checkMayPublish(caller);
  const { rows } = await sql<{ publish_at: string }>`
    insert into post_schedules (post_id, publish_at, user_ref, token_id, impersonator_user_ref, override_reason)
    select ${postId}, ${at}::timestamptz, ${caller.ref}, ${caller.token?.id ?? null}::uuid,
      ${caller.impersonator?.ref ?? null}::bigint, ${overrideReason}::text
    where ${at}::timestamptz > clock_timestamp()
    on conflict (post_id) do update set publish_at = excluded.publish_at, user_ref = excluded.user_ref,
      token_id = excluded.token_id, impersonator_user_ref = excluded.impersonator_user_ref,
      override_reason = excluded.override_reason
    returning publish_at`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw refuse('time-in-the-past', { property: 'publish_at' });
  await enqueue(
    tx,
    'publish-post',
    { post: postId },
    { key: `publish-post:${postId}`, runAt: row.publish_at },
  );
}

/** Removes the schedule of a locked post. Its job then does nothing. */
export async function unschedule(tx: Tx, postId: string): Promise<void> {
  await tx.deleteFrom('post_schedules').where('post_id', '=', postId).execute();
}
