import { listWorkflowStates, publishPost, unpublishPost } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeersOfVisibility } from '../../core/outbox/enqueue.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { announce } from '../../people/notifications/announce.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { checkApprovals, gatesOfPublishing } from '../approvals/gates.ts';
import { checkMove } from '../workflow/moves.ts';
import { lockEditable } from './edit.ts';
import { readChanged } from './get.ts';
import { unschedule } from './schedule.ts';

export interface Move {
  from: 'wip' | 'published';
  to: 'wip' | 'published';
  event: string;
  /** The error when the post is not in the state from which the transition starts. */
  refusal: 'post-is-published' | 'post-is-draft';
}

/** The transitions of the post domain; there are no others (POST-11). */
export const publishing: Move = {
  from: 'wip',
  to: 'published',
  event: 'post.published',
  refusal: 'post-is-published',
};
export const withdrawing: Move = {
  from: 'published',
  to: 'wip',
  event: 'post.unpublished',
  refusal: 'post-is-draft',
};

/**
 * Applies a transition to a locked post (POST-11, POST-12); the first publication sets its date. Throws 409 without the
 * approvals that publishing needs (APPROVAL-1).
 */
export async function movePost(
  tx: Tx,
  caller: SignedIn,
  id: string,
  { from, to, event, refusal }: Move,
  overrideReason: string | null = null,
): Promise<void> {
  const { rows } = await sql<{ visibility: string; state: string }>`
    select p.visibility, s.code as state from posts p join workflow_states s on s.id = p.state_id
    where p.id = ${id}`.execute(tx);
  const [post] = rows;
  if (post?.state !== from) throw refuse(refusal);
  await checkMove(tx, caller, 'post', from, to);
  if (to === 'published')
    await checkApprovals(tx, caller, id, gatesOfPublishing(post.visibility), overrideReason);
  await sql`
    update posts set updated_at = ${nextUpdatedAt},
      state_id = (select id from workflow_states where domain = 'post' and code = ${to}),
      posted_at = case when ${to} = 'published' and published_at is null then now() else posted_at end,
      published_at = case when ${to} = 'published' then coalesce(published_at, now()) else published_at end
    where id = ${id}`.execute(tx);
  if (to === 'published') await unschedule(tx, id);
  await notifyPeersOfVisibility(tx, id, { activity: 'update', actorRef: caller.ref });
  await recordEvent(tx, caller, { event, target: { kind: 'post', id } });
}

/** Moves a post that the caller may change, and returns it. */
async function move(
  { db, ladder }: Deps,
  caller: SignedIn,
  postId: string,
  transition: Move,
  overrideReason: string | null = null,
) {
  const moved = await db.transaction().execute(async (tx) => {
    const post = await lockEditable(tx, caller, postId);
    await movePost(tx, caller, post.id, transition, overrideReason);
    if (transition.to === 'published') await announce(tx, { what: 'post', post: post.id, actor: caller.ref });
    return readChanged(tx, caller, ladder, postId);
  });
  // The caller lost the right to read it during the transaction.
  if (moved === null) throw notFound();
  return { status: 200 as const, body: moved };
}

export const publish = handle(publishPost, (deps, { caller, params, body }) =>
  move(deps, caller, params.id, publishing, body?.override_reason ?? null),
);

export const unpublish = handle(unpublishPost, (deps, { caller, params }) =>
  move(deps, caller, params.id, withdrawing),
);

export const workflowStates = handle(listWorkflowStates, async ({ db }, { query }) => {
  const states = await db
    .selectFrom('workflow_states')
    .select(['id', 'domain', 'code', 'label', 'sort_order'])
    .$if(query.domain !== undefined, (statement) => statement.where('domain', '=', query.domain ?? ''))
    .orderBy('domain')
    .orderBy('sort_order')
    .orderBy('code')
    .execute();
  return { status: 200, body: states };
});
