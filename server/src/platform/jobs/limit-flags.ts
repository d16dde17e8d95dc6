import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Worker, WorkerEvents } from 'graphile-worker';

/**
 * Returns the flags whose jobs must not start now. `running` maps each flag to the number of jobs with it that this process
 * is running; flags without running jobs are absent.
 */
export type FlagRule = (running: ReadonlyMap<string, number>) => string[];

/** Longest wait for another worker's fetch: the database may hang, or the runner be replaced during one. */
const MOST_WAIT_MS = 5000;

/**
 * Makes the workers that report to `events` skip jobs with flags that the rule forbids; returns graphile-worker's
 * `forbiddenFlags`. Workers fetch one at a time: concurrent fetches would all see room for the same job.
 */
export function limitFlags(rule: FlagRule, events: WorkerEvents): () => Promise<string[]> {
  const running = new Map<string, number>();
  let fetching: Promise<void> = Promise.resolve();
  let fetched = () => {};

  const count = ({ flags }: Job, change: 1 | -1) => {
    for (const flag of Object.keys(flags ?? {})) {
      const now = (running.get(flag) ?? 0) + change;
      if (now === 0) running.delete(flag);
      else running.set(flag, now);
    }
  };
  // The emitter's type lists one signature per event; these five agree in what is used here.
  const on = (event: string, listener: (payload: { job: Job; worker: Worker }) => void) =>
    (events as EventEmitter).on(event, listener);
  on('job:start', ({ job }) => {
    count(job, 1);
    fetched();
  });
  on('worker:getJob:empty', () => fetched());
  on('worker:getJob:error', () => fetched());
  on('job:complete', ({ job }) => count(job, -1));
  // Reporting the job's end failed, so no completion event follows.
  on('worker:fatalError', ({ worker }) => {
    const job = worker.getActiveJob();
    if (job !== null) count(job, -1);
  });

  return async () => {
    const before = fetching;
    const { promise, resolve } = Promise.withResolvers<void>();
    fetching = promise;
    const patience = new AbortController();
    const waited = sleep(MOST_WAIT_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {});
    await Promise.race([before, waited]);
    patience.abort();
    fetched = resolve;
    return rule(running);
  };
}
