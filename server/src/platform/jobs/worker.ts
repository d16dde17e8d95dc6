import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { Logger, run, runOnce, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import type { JobName, Jobs } from './enqueue.ts';
import { type FlagLimit, limitFlags } from './limit-flags.ts';
import { claimLiveness } from './liveness.ts';

export interface JobContext {
  /** This is the last try: what fails now stays failed. */
  lastAttempt: boolean;
  log: FastifyBaseLogger;
}

export type JobHandler<N extends JobName> = (payload: Jobs[N], context: JobContext) => Promise<void>;
export type JobHandlers = { [N in JobName]: JobHandler<N> };

export interface WorkerOptions {
  pool: pg.Pool;
  handlers: JobHandlers;
  /** Jobs worked on at once by this process. */
  concurrency: number;
  log: FastifyBaseLogger;
  /** Cron lines of jobs that come round, in graphile-worker's form. */
  crontab: string;
  /** How many jobs with a flag may run at once; others wait without holding up what is behind them. */
  limitOf?: FlagLimit;
}

export interface Worker {
  /** Finishes the jobs under way and stops. */
  stop(): Promise<void>;
}

function taskList(handlers: JobHandlers, log: FastifyBaseLogger): TaskList {
  const task =
    <N extends JobName>(name: N): TaskList[string] =>
    async (payload, helpers) => {
      const { attempts, max_attempts } = helpers.job;
      await handlers[name](payloadOf(name, payload), {
        lastAttempt: attempts >= max_attempts,
        log: log.child({ job: name, jobId: helpers.job.id }),
      });
    };
  const names = Object.keys(handlers).filter((name): name is JobName => Object.hasOwn(handlers, name));
  return Object.fromEntries(names.map((name) => [name, task(name)]));
}

/** Payloads are only ever written by enqueue, whose types they have. */
function payloadOf<N extends JobName>(name: N, payload: unknown): Jobs[N];
function payloadOf(_name: JobName, payload: unknown) {
  return payload;
}

function quietLogger(log: FastifyBaseLogger): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.error(message);
    else if (level === 'warning') log.warn(message);
    else log.debug(message);
  });
}

/**
 * By itself graphile-worker does not wait until a job it finished is written off; what it does in batches it waits for
 * before a run ends. The batches are of a moment.
 */
const exact = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

/** Works on the jobs that are due now, and returns when there are none left and the last is written off. */
export async function runDueJobs(options: Omit<WorkerOptions, 'crontab'>): Promise<void> {
  const { pool, handlers, concurrency, log } = options;
  const events: WorkerEvents = new EventEmitter();
  await runOnce({
    preset: exact,
    pgPool: pool,
    taskList: taskList(handlers, log),
    concurrency,
    noHandleSignals: true,
    events,
    forbiddenFlags: limitFlags(options.limitOf ?? (() => undefined), events),
    logger: quietLogger(log),
  });
}

/** Works on jobs until stopped. Jobs of a process that was killed are taken over within seconds (liveness.ts). */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { pool, handlers, concurrency, log } = options;
  const liveness = await claimLiveness(pool, randomUUID(), log);
  const events: WorkerEvents = new EventEmitter();
  // Jobs are locked in the name of the pool, or of one of its workers.
  events.on('pool:create', ({ workerPool }) => liveness.register(workerPool.id));
  events.on('worker:create', ({ worker }) => liveness.register(worker.workerId));
  const runner = await run({
    pgPool: pool,
    taskList: taskList(handlers, log),
    concurrency,
    noHandleSignals: true,
    pollInterval: 2000,
    crontab: options.crontab,
    events,
    forbiddenFlags: limitFlags(options.limitOf ?? (() => undefined), events),
    logger: quietLogger(log),
  });
  return {
    async stop() {
      await runner.stop();
      await liveness.release();
    },
  };
}
