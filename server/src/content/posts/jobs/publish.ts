import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { actorOf, type Origin, originColumns } from '../../../access/deferred.ts';
import { checkMayPublish } from '../../../access/posts.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { announce } from '../../../people/notifications/announce.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { Refusal } from '../../../platform/http/refuse.ts';
import { lockEditable } from '../edit.ts';
import { unschedule } from '../schedule.ts';
import { movePost, publishing } from '../workflow.ts';

interface DueRow extends Origin {
  publish_at: string;
  override_reason: string | null;
  is_in_trash: boolean;
}

/** Locks a post that is due, and its schedule. */
async function lockDue(tx: Tx, postId: string): Promise<DueRow | undefined> {
  const { rows } = await sql<DueRow>`
    select s.publish_at, s.override_reason, p.deleted_at is not null as is_in_trash, ${originColumns('s')}
    from posts p join post_schedules s on s.post_id = p.id
    where p.id = ${postId} and s.publish_at <= clock_timestamp() for no key update of p, s`.execute(tx);
  return rows[0];
}

/** Returns the account that scheduled the post, if it may publish it now; otherwise null (POST-48). */
async function publisherOf(tx: Tx, postId: string, due: DueRow): Promise<SignedIn | null> {
  const actor = await actorOf(tx, due);
  if (actor === null) return null;
  try {
    checkMayPublish(actor);
    await lockEditable(tx, actor, postId);
    return actor;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Publishes a post that is due; false when it lacks approvals, or may no longer move (APPROVAL-3, WORKFLOW-2). */
async function isPublished(tx: Tx, publisher: SignedIn, postId: string, due: DueRow): Promise<boolean> {
  try {
    await movePost(tx, publisher, postId, publishing, due.override_reason);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Ends the schedule of a post that is due, with or without publishing it. */
async function endDue(db: Database, postId: string, isHopeless: boolean): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const due = await lockDue(tx, postId);
    if (due === undefined) return;
    const publisher = due.is_in_trash || isHopeless ? null : await publisherOf(tx, postId, due);
    await unschedule(tx, postId);
    if (publisher !== null && (await isPublished(tx, publisher, postId, due)))
      await announce(tx, { what: 'post', post: postId, actor: publisher.ref });
    else if (!due.is_in_trash)
      await announce(tx, { what: 'publish_failed', post: postId, at: due.publish_at });
  });
}

/**
 * Publishes a scheduled draft with the present rights of the account that scheduled it. Everything happens in one
 * transaction, so that a killed job starts over; a job without a schedule that is due does nothing.
 */
export function publishPostJob({ db }: Pick<Deps, 'db'>): JobHandler<'publish-post'> {
  return async ({ post }, { lastAttempt }) => {
    try {
      await endDue(db, post, false);
    } catch (error) {
      if (lastAttempt) await endDue(db, post, true);
      throw error;
    }
  };
}
