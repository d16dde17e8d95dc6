import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { asUnavailable, DatabaseUnavailable } from '../database/unavailable.ts';

const AGAIN_AFTER_MS = 500;

/** Names of graphile-worker's statements that complete or fail a job. */
const isWriteOff = /^(complete|fail)_jobs?(_q)?\//;

function nameOf(query: unknown): string {
  const named = typeof query === 'object' && query !== null && 'name' in query;
  return named && typeof query.name === 'string' ? query.name : '';
}

/**
 * Wraps the pool for graphile-worker. When a connection breaks while a job is being completed, graphile-worker stops,
 * or by default ends the process with an unhandled rejection. Here, such a statement is resent, each time on another
 * connection, until it succeeds or `stopping` is aborted. Repeating it is safe: it deletes the job, or changes it only
 * while this process holds its lock. Other statements fail with DatabaseUnavailable, and graphile-worker retries them
 * itself.
 */
export function persistentPool(pool: pg.Pool, stopping: AbortSignal, log: FastifyBaseLogger): pg.Pool {
  async function writeOff(given: unknown[]): Promise<unknown> {
    for (;;) {
      try {
        return await Reflect.apply(pool.query, pool, given);
      } catch (error) {
        const failure = asUnavailable(error);
        if (!(failure instanceof DatabaseUnavailable) || stopping.aborted) throw failure;
        log.warn({ reason: failure.message }, 'the outcome of a job could not be stored; trying again');
        await sleep(AGAIN_AFTER_MS, undefined, { signal: stopping }).catch(() => {});
      }
    }
  }

  /** A connection that is opened with its first statement, since opening may fail as well. */
  function connectLater(): Pick<pg.PoolClient, 'release'> & { query: (...given: unknown[]) => unknown } {
    let client: pg.PoolClient | null = null;
    return {
      async query(...given) {
        if (isWriteOff.test(nameOf(given[0]))) return writeOff(given);
        try {
          client ??= await pool.connect();
          return await Reflect.apply(client.query, client, given);
        } catch (error) {
          throw asUnavailable(error);
        }
      },
      release: (error) => client?.release(error),
    };
  }

  // The queue's listener connects with a callback and keeps its connection; statements are sent without one.
  const connect = (callback?: unknown) =>
    callback === undefined ? Promise.resolve(connectLater()) : Reflect.apply(pool.connect, pool, [callback]);
  return new Proxy(pool, {
    get(_, key) {
      if (key === 'connect') return connect;
      const value: unknown = Reflect.get(pool, key);
      return typeof value === 'function' ? value.bind(pool) : value;
    },
  });
}

/** Waits until the database answers, or rejects when `stopping` is aborted first. */
export async function waitForDatabase(pool: pg.Pool, stopping: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(AGAIN_AFTER_MS, undefined, { signal: stopping });
    const answers = await pool.query('select 1').then(
      () => true,
      () => false,
    );
    if (answers) return;
  }
}
