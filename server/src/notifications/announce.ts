import type { Tx } from '../platform/database/pool.ts';
import { enqueue, type Happening } from '../platform/jobs/enqueue.ts';

/**
 * Puts down that something happened, in its own transaction; whom it concerns is found out and told by a job
 * (jobs/tell.ts), so that an act costs the same however many watch.
 */
export async function announce(tx: Tx, happening: Happening): Promise<void> {
  await enqueue(tx, 'announce', happening, { key: `announce:${Object.values(happening).join(':')}` });
}
