import type { DomainEvent } from '../../core/domain-event.ts';
import { enqueueAll } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';

/**
 * Enqueues a domain event in the caller's transaction. A job finds and notifies the recipients (jobs/notify.ts), so
 * that the request costs the same however many there are.
 */
export async function announce(tx: Tx, event: DomainEvent): Promise<void> {
  await announceAll(tx, [event]);
}

/** Enqueues any number of different domain events in one statement. */
export async function announceAll(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
  const jobs = events.map((event) => ({
    payload: event,
    key: `announce:${Object.values(event).join(':')}`,
  }));
  await enqueueAll(tx, 'announce', jobs);
}
