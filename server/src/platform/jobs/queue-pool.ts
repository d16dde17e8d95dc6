import pg from 'pg';
import type { OnSilence } from '../database/watch.ts';

/** Closes a queue connection that was idle for this long. */
const IDLE_MS = 5000;

/**
 * A pool for the queue, with the settings of `pool`. graphile-worker takes a connection for one statement, to fetch or
 * complete a job; a running job holds none. Its workers fetch one at a time (`limit-flags.ts`), so one or two nearly
 * always suffice. Only when all jobs end together does each use its own, without waiting for requests. One more listens
 * for new jobs.
 *
 * A fetch would wait for hours on a connection that the network has dropped without notice, and no job would start. So all
 * connections are dropped when the database does not answer.
 */
export function openQueuePool({ options }: pg.Pool, concurrency: number, onSilence: OnSilence): pg.Pool {
  const queue = new pg.Pool({
    ...options,
    // The pool's password property is not enumerable, so a copy would lack it.
    ...(options.password === undefined ? {} : { password: options.password }),
    fallback_application_name: 'vitrine jobs',
    max: concurrency + 1,
    idleTimeoutMillis: IDLE_MS,
  });
  // The pool replaces an idle connection that breaks; without a listener the error would end the process.
  queue.on('error', () => {});
  const clients = new Set<pg.PoolClient>();
  queue.on('connect', (client) => {
    clients.add(client);
    client.on('error', () => {});
    client.on('end', () => clients.delete(client));
  });
  onSilence(() => {
    for (const client of clients) client.connection.stream.destroy();
  });
  return queue;
}
