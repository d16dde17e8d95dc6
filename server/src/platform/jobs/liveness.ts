import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../database/pool.ts';

/**
 * How a killed worker is noticed. Each working process holds an advisory lock on a connection of its own, which
 * PostgreSQL drops the moment the process is gone. The others look for names of workers whose lock is free and
 * give their jobs back; graphile-worker alone would wait four hours.
 */
export interface Liveness {
  register(workerId: string): void;
  release(): Promise<void>;
}

/** Advisory locks of two numbers: this one, and the process's own. */
const WORKER_CLASS = 7431;
const LOOK_EVERY_MS = 5000;

/** How many processes work on jobs at this moment: those that hold their lock. */
export async function countLiveWorkers(db: Database): Promise<number> {
  const { rows } = await sql<{ live: number }>`
    select count(distinct w.process) as live from job_workers w
    join pg_locks l on l.locktype = 'advisory' and l.objsubid = 2 and l.granted
      and l.classid::bigint = ${WORKER_CLASS} and l.objid::bigint = w.process
      and l.database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows[0]?.live ?? 0;
}

/** Takes over from processes whose lock is free: forgets them and unlocks what their workers held. */
async function takeOver(client: pg.PoolClient, log: FastifyBaseLogger): Promise<void> {
  const { rows } = await client.query<{ process: number; worker_ids: string[] }>(
    'select process, array_agg(worker_id) as worker_ids from job_workers group by process',
  );
  for (const { process, worker_ids } of rows) {
    const lock = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1, $2) as free', [
      WORKER_CLASS,
      process,
    ]);
    if (lock.rows[0]?.free !== true) continue;
    await client.query('select graphile_worker.force_unlock_workers($1)', [worker_ids]);
    await client.query('delete from job_workers where process = $1', [process]);
    await client.query('select pg_advisory_unlock($1, $2)', [WORKER_CLASS, process]);
    log.info({ workers: worker_ids.length }, 'took over the jobs of a worker that is gone');
  }
}

/** Claims this process's lock, takes over from the dead, and goes on looking for them. */
export async function claimLiveness(pool: pg.Pool, name: string, log: FastifyBaseLogger): Promise<Liveness> {
  const client = await pool.connect();
  const claimed = await client.query<{ process: number }>(
    "select nextval('job_worker_process')::integer as process",
  );
  const process = claimed.rows[0]?.process ?? 0;
  await client.query('select pg_advisory_lock($1, $2)', [WORKER_CLASS, process]);
  await takeOver(client, log);
  // One connection, one statement after the other.
  let last: Promise<unknown> = Promise.resolve();
  const queue = (work: () => Promise<unknown>) => {
    last = last
      .then(work)
      .catch((error: unknown) => log.warn({ err: error, worker: name }, 'liveness check failed'));
  };
  const timer = setInterval(() => queue(() => lookOnce(client, process, log)), LOOK_EVERY_MS);
  timer.unref();
  return {
    register(workerId) {
      queue(() =>
        client.query('insert into job_workers (worker_id, process) values ($1, $2) on conflict do nothing', [
          workerId,
          process,
        ]),
      );
    },
    async release() {
      clearInterval(timer);
      queue(() => client.query('delete from job_workers where process = $1', [process]));
      queue(() => client.query('select pg_advisory_unlock($1, $2)', [WORKER_CLASS, process]));
      await last;
      client.release();
    },
  };
}

async function lookOnce(client: pg.PoolClient, own: number, log: FastifyBaseLogger): Promise<void> {
  const others = await client.query('select 1 from job_workers where process <> $1 limit 1', [own]);
  if (others.rows.length > 0) await takeOver(client, log);
}
