import type { DomainEvent } from '../../core/domain-event.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';

/**
 * Enqueues a domain event in the caller's transaction. A job finds and notifies the recipients (jobs/notify.ts), so
 * that the request costs the same however many there are.
 */
export async function announce(tx: Tx, event: DomainEvent): Promise<void> {
  await enqueue(tx, 'announce', event, { key: `announce:${Object.values(event).join(':')}` });
}
