import { randomUUID } from 'node:crypto';
import type { SignedIn } from '../../../access/caller.ts';
import { enqueueAll } from '../../../core/job-table.ts';
import type { Tx } from '../../../platform/database/pool.ts';

/**
 * Announces posts, as a change of one does: mentions may have new readers. The jobs have keys of their own, because a
 * step that locks many pending jobs deadlocks with a worker that completes some of them.
 */
export async function announceEach(tx: Tx, caller: SignedIn, postIds: readonly string[]): Promise<void> {
  const jobs = postIds.map((post) => ({
    payload: { what: 'post' as const, post, actor: caller.ref },
    key: `announce:post:${post}:${randomUUID()}`,
  }));
  await enqueueAll(tx, 'announce', jobs);
}
