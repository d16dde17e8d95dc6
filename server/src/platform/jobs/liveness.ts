import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import pg from 'pg';
import { WORKER_LOCKS } from '../database/advisory-locks.ts';
import type { Database } from '../database/pool.ts';
import { removeReplacedJobs, unlockJob } from './queue-tables.ts';

/**
 * Detects lost workers. Each working process holds an advisory lock on a dedicated connection, which PostgreSQL
 * releases when the process is gone. Other processes look for worker names whose lock stays free, and return their jobs
 * to the queue; graphile-worker alone would wait four hours. A process that lost only its connection reclaims its lock
 * well before that, so that its jobs do not run twice.
 */
export interface Liveness {
  /** Registers a worker name under which this process locks jobs. */
  register(workerId: string): void;
  /** Records that this process works on this job. */
  begin(job: LockedJob): void;
  /** Records a failed fetch: the queue may have assigned a job that never arrived here. */
  suspect(): void;
  release(): Promise<void>;
}

type LockedJob = { id: string; attempts: number };

const LOOK_EVERY_MS = 1500;
/** How long another process's lock must be free; a live process reconnects several times in that time. */
const FREE_FOR_MS = 3000;
const CLAIM_AGAIN_AFTER_MS = 300;
const ANSWER_WITHIN_MS = 10_000;
/** How long a statement may continue after its caller stopped waiting. */
const SUSPECT_FOR_MS = 60_000;
/** Number of started jobs kept in memory before finished ones are dropped. */
const MOST_BEGUN = 500;

/** Joins the locks of the processes of `job_workers w`. */
const holdingTheirLock = sql`join pg_locks l on l.locktype = 'advisory' and l.objsubid = 2 and l.granted
  and l.classid::bigint = ${WORKER_LOCKS} and l.objid::bigint = w.process
  and l.database = (select oid from pg_database where datname = current_database())`;

/** Returns how many processes currently work on jobs, that is, hold their lock. */
export async function countLiveWorkers(db: Database): Promise<number> {
  const { rows } = await sql<{ live: number }>`
    select count(distinct w.process) as live from job_workers w ${holdingTheirLock}`.execute(db);
  return rows[0]?.live ?? 0;
}

/**
 * Returns which of these kinds of jobs no live process takes. Processes of earlier versions, which do not say what they
 * take, count as taking all.
 */
export async function kindsWithoutWorker(db: Database, kinds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ kinds: string[] | null }>`
    select distinct w.kinds from job_workers w ${holdingTheirLock}`.execute(db);
  if (rows.some((row) => row.kinds === null)) return [];
  const taken = new Set(rows.flatMap((row) => row.kinds ?? []));
  return kinds.filter((kind) => !taken.has(kind));
}

/** Removes a process and unlocks its workers' jobs in one statement. Call it while holding the process's lock. */
async function takeOver(client: pg.Client, process: number): Promise<void> {
  await removeReplacedJobs(client, process);
  await client.query(
    `with gone as (delete from job_workers where process = $1 returning worker_id)
     select graphile_worker.force_unlock_workers(array_agg(worker_id)) from gone`,
    [process],
  );
}

/** Finds other processes whose lock has been free for a while, and releases their jobs. */
function watchOthers(own: number, log: FastifyBaseLogger): (client: pg.Client) => Promise<void> {
  const freeSince = new Map<number, number>();
  return async (client) => {
    const { rows } = await client.query<{ process: number }>(
      'select distinct process from job_workers where process <> $1',
      [own],
    );
    for (const { process } of rows) {
      const lock = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1, $2) as free', [
        WORKER_LOCKS,
        process,
      ]);
      if (lock.rows[0]?.free !== true) {
        freeSince.delete(process);
        continue;
      }
      const since = freeSince.get(process) ?? performance.now();
      freeSince.set(process, since);
      if (performance.now() - since >= FREE_FOR_MS) {
        await takeOver(client, process);
        freeSince.delete(process);
        log.info({ process }, 'took over the jobs of a worker that is gone');
      }
      await client.query('select pg_advisory_unlock($1, $2)', [WORKER_LOCKS, process]);
    }
  };
}

/**
 * Finds jobs locked in our name that nothing here works on, because the connection broke after the fetch, and unlocks
 * them without counting the attempt.
 */
function watchOwn(workerIds: ReadonlySet<string>) {
  const begun = new Set<string>();
  let suspectUntil = 0;
  let strays = new Set<string>();
  const keyOf = ({ id, attempts }: LockedJob) => `${id}:${attempts}`;

  async function look(client: pg.Client): Promise<void> {
    if (performance.now() > suspectUntil && begun.size <= MOST_BEGUN) return;
    const known = [...begun];
    const { rows } = await client.query<LockedJob>(
      'select id::text, attempts from graphile_worker.jobs where locked_by = any($1)',
      [[...workerIds]],
    );
    const locked = new Set(rows.map(keyOf));
    // Jobs that began after the query was sent may be missing from its result.
    for (const key of known) if (!locked.has(key)) begun.delete(key);
    const unknown = rows.filter((job) => !begun.has(keyOf(job)));
    for (const job of unknown) {
      // A job seen once may still be arriving.
      if (!strays.has(keyOf(job))) continue;
      await unlockJob(client, job, [...workerIds]);
    }
    strays = new Set(unknown.map(keyOf));
  }

  return {
    look,
    begin: (job: LockedJob) => begun.add(keyOf(job)),
    suspect() {
      suspectUntil = performance.now() + SUSPECT_FOR_MS;
    },
  };
}

/** Opens a connection besides the pool's, so that a busy pool cannot prevent claiming the lock. */
async function connectBeside({ options }: pg.Pool): Promise<pg.Client> {
  // The pool's password property is not enumerable, so a copy would lack it.
  const client = new pg.Client({
    ...options,
    ...(options.password === undefined ? {} : { password: options.password }),
    query_timeout: ANSWER_WITHIN_MS,
    fallback_application_name: 'vitrine jobs lock',
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/**
 * Claims this process's lock and keeps looking for abandoned jobs until released. Reconnects and claims the lock again
 * when the connection breaks. `kinds` are those of the jobs that the process takes; null: all.
 */
export async function claimLiveness(
  pool: pg.Pool,
  log: FastifyBaseLogger,
  kinds: readonly string[] | null = null,
): Promise<Liveness> {
  const workerIds = new Set<string>();
  const first = await connectBeside(pool);
  const named = await first.query<{ process: number }>(
    "select nextval('job_worker_process')::integer as process",
  );
  const process = named.rows[0]?.process ?? 0;
  await first.query('select pg_advisory_lock($1, $2)', [WORKER_LOCKS, process]);
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let released = false;
  let failing = false;
  const others = watchOthers(process, log);
  const own = watchOwn(workerIds);

  function keep(made: pg.Client): pg.Client {
    client = made;
    made.on('end', () => {
      if (client !== made) return;
      client = null;
      lookAfter(0);
    });
    return made;
  }

  async function claimAgain(): Promise<pg.Client> {
    const made = await connectBeside(pool);
    try {
      const lock = await made.query<{ ours: boolean }>('select pg_try_advisory_lock($1, $2) as ours', [
        WORKER_LOCKS,
        process,
      ]);
      // PostgreSQL may not have noticed yet that the previous connection is gone.
      if (lock.rows[0]?.ours !== true) throw new Error('the lock is not free yet');
      await writeNames(made, [...workerIds]);
      // Other connections may have broken as well while a job was being fetched.
      own.suspect();
      return keep(made);
    } catch (error) {
      made.connection.stream.destroy();
      throw error;
    }
  }

  async function writeNames(to: pg.Client, names: string[]): Promise<void> {
    await to.query(
      'insert into job_workers (worker_id, process, kinds) select unnest($1::text[]), $2, $3 on conflict do nothing',
      [names, process, kinds],
    );
  }

  // One connection runs one statement at a time.
  let last: Promise<unknown> = Promise.resolve();
  const queue = (work: (on: pg.Client) => Promise<unknown>) => {
    const done = last.then(async () => {
      const on = client ?? (await claimAgain());
      await work(on).catch((error: unknown) => {
        // Whatever failed, a new connection restores a known state.
        on.connection.stream.destroy();
        throw error;
      });
    });
    last = done.then(
      () => {
        failing = false;
      },
      (error: unknown) => {
        // Retried several times a second, so logged once only.
        if (!failing) log.warn({ err: error }, 'liveness check failed; trying until it works');
        failing = true;
      },
    );
    return done;
  };

  function lookAfter(ms: number): void {
    if (released) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(async () => {
      const looked = queue(async (on) => {
        await others(on);
        await own.look(on);
      });
      lookAfter(
        await looked.then(
          () => LOOK_EVERY_MS,
          () => CLAIM_AGAIN_AFTER_MS,
        ),
      );
    }, ms);
    timer.unref();
  }

  keep(first);
  lookAfter(0);
  return {
    register(workerId) {
      workerIds.add(workerId);
      // A failure here is repaired when the lock is claimed again.
      queue((on) => writeNames(on, [workerId])).catch(() => {});
    },
    begin: own.begin,
    suspect: own.suspect,
    async release() {
      released = true;
      if (timer !== null) clearTimeout(timer);
      await last;
      if (client === null) return;
      const ending = client;
      client = null;
      await ending.query('delete from job_workers where process = $1', [process]).catch(() => {});
      await ending.end().catch(() => {});
    },
  };
}
