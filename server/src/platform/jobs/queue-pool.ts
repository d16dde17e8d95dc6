import pg from 'pg';

/** A connection that the queue has not used for this long is closed. */
const IDLE_MS = 5000;

/**
 * Connections for the queue alone, as `pool` makes them. graphile-worker takes one for a statement when it fetches a job or
 * writes one off; a job that runs holds none. Its workers fetch in turn (`limit-flags.ts`), so that one or two suffice nearly
 * always. Only when all jobs end at one moment each of them has its own for a moment, and does not wait for requests. One more
 * listens for new jobs.
 */
export function openQueuePool({ options }: pg.Pool, concurrency: number): pg.Pool {
  const queue = new pg.Pool({
    ...options,
    // The pool hides its password from being copied along.
    ...(options.password === undefined ? {} : { password: options.password }),
    max: concurrency + 1,
    idleTimeoutMillis: IDLE_MS,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  queue.on('error', () => {});
  queue.on('connect', (client) => client.on('error', () => {}));
  return queue;
}
