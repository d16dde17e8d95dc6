import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { Logger, type Runner, run, runOnce, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import type { OnSilence } from '../database/watch.ts';
import { activeSpan, failureOf } from '../tracing/active-span.ts';
import type { Tracing } from '../tracing/open.ts';
import { type FlagRule, limitFlags } from './limit-flags.ts';
import { claimLiveness } from './liveness.ts';
import { persistentPool, waitForDatabase } from './persistent-pool.ts';
import { openQueuePool } from './queue-pool.ts';

interface JobContext {
  /** The id of the job, which stays the same for all its attempts. */
  jobId: string;
  /** True on the last attempt: a failure is final. */
  lastAttempt: boolean;
  log: FastifyBaseLogger;
}

/** Called after each attempt of a job with its duration in seconds. */
export type ObserveJob = (kind: string, seconds: number, failed: boolean) => void;

/** Runs a job. */
export type Task<Payload> = (payload: Payload, context: JobContext) => Promise<void>;

export interface WorkerOptions {
  pool: pg.Pool;
  onSilence: OnSilence;
  /** The handler of each kind of job. Its type is the contract between handlers and what enqueues their jobs. */
  handlers: Readonly<Record<string, Task<never>>>;
  /** The kinds of jobs that this process takes; null or undefined: all. */
  kinds?: readonly string[] | null;
  /** Number of jobs that this process runs concurrently. */
  concurrency: number;
  log: FastifyBaseLogger;
  /** Cron lines of recurring jobs, in graphile-worker's syntax. */
  crontab: string;
  /** Which jobs must not start yet; they do not block those behind them. */
  forbidFlags?: FlagRule;
  /** Traces jobs; null disables tracing. */
  tracing?: Tracing | null;
  /** Null disables measuring. */
  observe?: ObserveJob | null;
}

export interface Worker {
  /** Stops after the running jobs have finished. */
  stop(): Promise<void>;
}

/** Number of restarts within one attempt after the database was lost; a job that crashes the database itself fails. */
const MOST_LOSSES = 10;
const RESTART_AFTER_MS = 1000;

/** Separates the handler's payload from the trace context that `addJobs` added. */
function withoutTrace(stored: unknown): { payload: unknown; traceparent: string | undefined } {
  if (typeof stored !== 'object' || stored === null || !('traceparent' in stored))
    return { payload: stored, traceparent: undefined };
  const { traceparent, ...payload } = stored;
  return { payload, traceparent: typeof traceparent === 'string' ? traceparent : undefined };
}

/** Adapts the handlers for graphile-worker. A job that loses the database runs again when the database is back. */
function taskList(
  { handlers, pool, log, tracing = null, observe = null }: Omit<WorkerOptions, 'crontab' | 'onSilence'>,
  stopping: AbortSignal,
): TaskList {
  const perform = async (payload: unknown, handler: Task<never>, context: JobContext): Promise<void> => {
    for (let losses = 1; ; losses += 1) {
      try {
        // Enqueuing is typed, so the payload has the type that its handler expects.
        return await handler(payload as never, context);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || losses > MOST_LOSSES || stopping.aborted) throw error;
        context.log.warn({ reason: error.message }, 'the job is run again when the database is back');
        await waitForDatabase(pool, stopping);
      }
    }
  };
  const task =
    (name: string, handler: Task<never>): TaskList[string] =>
    async (stored, helpers) => {
      const { id, attempts, max_attempts } = helpers.job;
      const { payload, traceparent } = withoutTrace(stored);
      const span = tracing?.startJob(name, traceparent) ?? null;
      const context = {
        jobId: id,
        lastAttempt: attempts >= max_attempts,
        log: log.child({
          job: name,
          jobId: id,
          ...(span && { trace_id: span.traceId, span_id: span.spanId }),
        }),
      };
      span?.set({ 'vitrine.job_id': id, 'vitrine.job_attempt': attempts });
      const began = performance.now();
      const end = (failure?: string) => {
        observe?.(name, (performance.now() - began) / 1000, failure !== undefined);
        span?.end(failure);
      };
      const work = () =>
        perform(payload, handler, context).then(
          () => end(),
          (error: unknown) => {
            end(failureOf(error));
            throw error;
          },
        );
      return span === null ? work() : activeSpan.run(span, work);
    };
  return Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, task(name, handler)]));
}

function quietLogger(log: FastifyBaseLogger): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.error(message);
    else if (level === 'warning') log.warn(message);
    else log.debug(message);
  });
}

/** Disables batching so that `runOnce` returns only after completion is recorded. */
const exact = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

/** Runs all due jobs, and returns after the completion of the last one is recorded. */
export async function runDueJobs(options: Omit<WorkerOptions, 'crontab' | 'onSilence'>): Promise<void> {
  const { pool, concurrency, log } = options;
  const { signal } = new AbortController();
  const events: WorkerEvents = new EventEmitter();
  await runOnce({
    preset: exact,
    pgPool: persistentPool(pool, signal, log),
    taskList: taskList(options, signal),
    concurrency,
    noHandleSignals: true,
    events,
    forbiddenFlags: limitFlags(options.forbidFlags ?? (() => []), events, signal),
    logger: quietLogger(log),
  });
}

/**
 * Runs jobs until stopped, and survives losses of the database. Jobs of a killed process are taken over within seconds
 * (liveness.ts).
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { pool, concurrency, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const liveness = await claimLiveness(pool, log, options.kinds ?? null);
  const queuePool = openQueuePool(pool, concurrency, options.onSilence);
  const events: WorkerEvents = new EventEmitter();
  let poolId = '';
  // Jobs are locked in the name of the pool or of one of its workers.
  events.on('pool:create', ({ workerPool }) => {
    poolId = workerPool.id;
    liveness.register(poolId);
  });
  events.on('worker:create', ({ worker }) => liveness.register(worker.workerId));
  events.on('job:start', ({ job }) => liveness.begin(job));
  events.on('worker:getJob:error', () => liveness.suspect());
  const forbiddenFlags = limitFlags(options.forbidFlags ?? (() => []), events, signal);
  /** Resolves when the latest runner has ended; its own promise stays pending after some failures. */
  let over: Promise<unknown> = Promise.resolve();
  const begin = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    over = promise;
    events.once('pool:gracefulShutdown:complete', () => resolve());
    events.once('pool:forcefulShutdown:complete', () => resolve());
    return run({
      preset: exact,
      pgPool: persistentPool(queuePool, signal, log),
      taskList: taskList(options, signal),
      concurrency,
      noHandleSignals: true,
      pollInterval: 2000,
      crontab: options.crontab,
      events,
      forbiddenFlags,
      logger: quietLogger(log),
    });
  };

  /** Replaces a runner that ended by itself; returns null when none is needed any more. */
  async function beginAgain(): Promise<Runner | null> {
    while (!signal.aborted) {
      await sleep(RESTART_AFTER_MS, undefined, { signal }).catch(() => {});
      try {
        // Nothing works on the jobs that the previous runner still holds.
        await pool.query('select graphile_worker.force_unlock_workers($1)', [[poolId]]);
        return await begin();
      } catch (error) {
        log.warn({ err: error }, 'the job runner cannot be started yet');
      }
    }
    return null;
  }

  let runner: Runner | null = await begin();
  const ended = (async () => {
    while (runner !== null) {
      await Promise.race([over, runner.promise.catch(() => {})]);
      if (signal.aborted) return;
      log.error('the job runner ended by itself; starting another');
      runner = await beginAgain();
      if (signal.aborted) await runner?.stop();
    }
  })();
  return {
    async stop() {
      stopping.abort();
      // It may have ended by itself just now.
      await runner?.stop().catch(() => {});
      await ended;
      await liveness.release();
      await queuePool.end();
    },
  };
}
