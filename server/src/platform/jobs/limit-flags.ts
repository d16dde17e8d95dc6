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
 * A fetch that finds nothing has read every waiting job that must not start or that this process does not take, which takes
 * 150 ms for 400,000 of them. Such fetches are spaced so that they take at most a sixth of the time of one core.
 */
const PAUSE_PER_FETCH = 5;
const MOST_PAUSE_MS = 3000;
/** Shorter fetches are repeated at once. */
const LONG_FETCH_MS = 20;

/** A long fetch that found nothing. */
interface EmptyFetch {
  forbidden: ReadonlySet<string>;
  /** When it may be repeated. */
  until: number;
}

/**
 * Returns how long a fetch that skips these flags has to wait, in ms: an earlier fetch that skipped no others may have found
 * nothing.
 */
function pauseOf(empty: EmptyFetch | null, flags: readonly string[]): number {
  if (empty === null || !empty.forbidden.isSubsetOf(new Set(flags))) return 0;
  return Math.max(empty.until - performance.now(), 0);
}

/**
 * Makes the workers that report to `events` skip jobs with flags that the rule forbids; returns graphile-worker's
 * `forbiddenFlags`. Workers fetch one at a time: concurrent fetches would all see room for the same job. After
 * `stopping` they no longer pause.
 */
export function limitFlags(
  rule: FlagRule,
  events: WorkerEvents,
  stopping: AbortSignal,
): () => Promise<string[]> {
  const running = new Map<string, number>();
  let fetching: Promise<void> = Promise.resolve();
  let fetched = () => {};
  let current: { flags: readonly string[]; began: number } | null = null;
  let empty: EmptyFetch | null = null;
  /** Aborted and replaced when a job ends, because others may start then. */
  let changed = new AbortController();

  const count = ({ flags }: Job, change: 1 | -1) => {
    for (const flag of Object.keys(flags ?? {})) {
      const now = (running.get(flag) ?? 0) + change;
      if (now === 0) running.delete(flag);
      else running.set(flag, now);
    }
    if (change === 1) return;
    changed.abort();
    changed = new AbortController();
  };
  const noteEmpty = () => {
    if (current === null) return;
    const took = performance.now() - current.began;
    const pause = took < LONG_FETCH_MS ? 0 : Math.min(took * PAUSE_PER_FETCH, MOST_PAUSE_MS);
    empty = { forbidden: new Set(current.flags), until: performance.now() + pause };
  };
  // The emitter's type lists one signature per event; these five agree in what is used here.
  const on = (event: string, listener: (payload: { job: Job; worker: Worker }) => void) =>
    (events as EventEmitter).on(event, listener);
  on('job:start', ({ job }) => {
    count(job, 1);
    fetched();
  });
  on('worker:getJob:empty', () => {
    noteEmpty();
    fetched();
  });
  on('worker:getJob:error', () => fetched());
  on('job:complete', ({ job }) => count(job, -1));
  // Reporting the job's end failed, so no completion event follows.
  on('worker:fatalError', ({ worker }) => {
    const job = worker.getActiveJob();
    if (job !== null) count(job, -1);
  });

  /** Waits until no other worker fetches. Returns what lets the next one fetch. */
  async function takeTurn(): Promise<() => void> {
    const before = fetching;
    const { promise, resolve } = Promise.withResolvers<void>();
    fetching = promise;
    const patience = new AbortController();
    const waited = sleep(MOST_WAIT_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {});
    await Promise.race([before, waited]);
    patience.abort();
    return resolve;
  }

  return async () => {
    for (;;) {
      const endTurn = await takeTurn();
      const flags = rule(running);
      const pause = stopping.aborted ? 0 : pauseOf(empty, flags);
      if (pause === 0) {
        current = { flags, began: performance.now() };
        fetched = endTurn;
        return flags;
      }
      endTurn();
      const signal = AbortSignal.any([changed.signal, stopping]);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  };
}
