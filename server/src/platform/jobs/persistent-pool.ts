import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { asUnavailable, DatabaseUnavailable } from '../database/unavailable.ts';

const AGAIN_AFTER_MS = 500;

/** The names graphile-worker gives the statements that write off a job that is done or has failed. */
const isWriteOff = /^(complete|fail)_jobs?(_q)?\//;

function nameOf(query: unknown): string {
  const named = typeof query === 'object' && query !== null && 'name' in query;
  return named && typeof query.name === 'string' ? query.name : '';
}

/** `target` with some of its methods replaced; what it keeps in itself stays there. */
function withMethods<T extends object>(target: T, methods: { [K in keyof T]?: unknown }): T {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * The pool as graphile-worker should see it. When a connection breaks while a job is written off, graphile-worker
 * stops altogether, or with its default settings ends the process by an unhandled rejection. Here such a statement is
 * sent again on other connections until it arrives or `stopping` is aborted. Repeating it is safe: it deletes the job,
 * or touches it only while it is still locked in this process's name.
 */
export function persistentPool(pool: pg.Pool, stopping: AbortSignal, log: FastifyBaseLogger): pg.Pool {
  async function writeOff(client: pg.PoolClient, given: unknown[]): Promise<unknown> {
    for (let sender: pg.Pool | pg.PoolClient = client; ; sender = pool) {
      try {
        return await Reflect.apply(sender.query, sender, given);
      } catch (error) {
        const told = asUnavailable(error);
        if (!(told instanceof DatabaseUnavailable) || stopping.aborted) throw told;
        log.warn({ reason: told.message }, 'a finished job could not be written off; trying again');
        await sleep(AGAIN_AFTER_MS, undefined, { signal: stopping }).catch(() => {});
      }
    }
  }
  const connect = (callback?: unknown) => {
    if (callback !== undefined) return Reflect.apply(pool.connect, pool, [callback]);
    return pool.connect().then((client) =>
      withMethods(client, {
        query: (...given: unknown[]) =>
          isWriteOff.test(nameOf(given[0]))
            ? writeOff(client, given)
            : Reflect.apply(client.query, client, given),
      }),
    );
  };
  return withMethods(pool, { connect });
}

/** Waits until the database answers, or rejects when `stopping` is aborted first. */
export async function untilAnswering(pool: pg.Pool, stopping: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(AGAIN_AFTER_MS, undefined, { signal: stopping });
    const answers = await pool.query('select 1').then(
      () => true,
      () => false,
    );
    if (answers) return;
  }
}
