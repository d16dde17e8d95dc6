import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { lockMembers, moveMembers } from '../../workflow/member-states.ts';
import { isComplete } from '../complete.ts';

/**
 * Moves the members of a post whose review was reopened back to `review`: those that were locked when its content
 * changed. Does nothing once everyone has approved again.
 */
export function reopenReviewsJob({ db }: Pick<Deps, 'db'>): JobHandler<'reopen-reviews'> {
  return async ({ post, review }) => {
    await db.transaction().execute(async (tx) => {
      await lockMembers(tx, post);
      if (await isComplete(tx, review)) return;
      await moveMembers(tx, null, post, { to: 'review', from: 'approved', review });
    });
  };
}
