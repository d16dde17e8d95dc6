import type { AssetAction } from '@vitrine/contract/batches';
import { mostInPost } from '@vitrine/contract/limits';
import { sql } from 'kysely';
import { shownAssets } from '../../../access/assets.ts';
import { checkMayCreatePosts, checkMayPublish } from '../../../access/posts.ts';
import { notifyFollowers } from '../../../core/outbox/followers.ts';
import { announce } from '../../../people/notifications/announce.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { checkApprovals, checkNewPost, gatesOfPublishing } from '../../approvals/gates.ts';
import { insertPost } from '../../posts/insert.ts';
import { changeRows, type ReadRow } from '../rows.ts';
import type { Action } from '../step.ts';

/** Makes one post of the assets whose columns the caller may see, in their order; the others are refused. */
export function createPostOf(action: AssetAction): Action {
  const { title, visibility, draft, tags } = action;
  const overrideReason = action.override_reason ?? null;
  const gates = draft === true ? [] : gatesOfPublishing(visibility);
  const create: Action = async (step) => {
    const { tx, caller, items } = step;
    checkMayCreatePosts(caller);
    if (draft !== true) {
      checkMayPublish(caller);
      await checkNewPost(tx, caller, gates, overrideReason);
    }
    let postId: string | undefined;
    const { outcomes } = await changeRows<ReadRow & { is_read: boolean }>(step, {
      subject: 'asset',
      columns: sql`true as is_read`,
      allowed: shownAssets,
      // A placeholder cannot be posted (POST-17).
      notAllowed: notFound().sentence,
      judge: () => ({ outcome: 'changed', record: {} }),
      async write(changed) {
        const named = new Set(changed.map(({ row }) => row.id));
        const members = items.filter(({ id }) => named.has(id)).map(({ id }) => ({ asset_id: id }));
        postId = await insertPost(tx, caller.ref, {
          members,
          ...(title === undefined ? {} : { title }),
          ...(visibility === undefined ? {} : { visibility }),
          ...(draft === undefined ? {} : { draft }),
          ...(tags === undefined ? {} : { tags }),
        });
        if (draft === true) return;
        await checkApprovals(tx, caller, postId, gates, overrideReason);
        await announce(tx, { what: 'post', post: postId, actor: caller.ref });
        await notifyFollowers(tx, postId);
      },
      edited: null,
      notifies: false,
    });
    return { outcomes, ...(postId === undefined ? {} : { postId }) };
  };
  // Before the job, whose steps would each make a post of their part (BATCH-12).
  return Object.assign(create, {
    checkCount(count: number) {
      if (count > mostInPost) throw refuse('too-many-files-for-post', { max: mostInPost });
    },
  });
}
