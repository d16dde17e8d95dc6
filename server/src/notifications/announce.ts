import type { Tx } from '../platform/database/pool.ts';
import { type DomainEvent, enqueue } from '../platform/jobs/enqueue.ts';

/**
 * Puts down that something happened, in its own transaction; whom it concerns is found out and told by a job
 * (jobs/notify.ts), so that an act costs the same however many watch.
 */
export async function announce(tx: Tx, event: DomainEvent): Promise<void> {
  await enqueue(tx, 'announce', event, { key: `announce:${Object.values(event).join(':')}` });
}
