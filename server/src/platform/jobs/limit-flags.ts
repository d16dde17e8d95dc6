import type { EventEmitter } from 'node:events';
import type { Job, WorkerEvents } from 'graphile-worker';

/** How many jobs with a flag may run at once in this process; undefined when it is not limited. */
export type FlagLimit = (flag: string) => number | undefined;

/**
 * Makes the workers that report to `events` pass over jobs whose flags are at their limit; the result is graphile-worker's
 * `forbiddenFlags`. Workers fetch in turn: several that fetched at once would all see room for the same job.
 */
export function limitFlags(limitOf: FlagLimit, events: WorkerEvents): () => Promise<string[]> {
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
  // The emitter's own type lists one signature per event; these four differ in nothing that is used here.
  const on = (event: string, listener: (told: { job: Job }) => void) =>
    (events as EventEmitter).on(event, listener);
  on('job:start', ({ job }) => {
    count(job, 1);
    fetched();
  });
  on('worker:getJob:empty', () => fetched());
  on('worker:getJob:error', () => fetched());
  on('job:complete', ({ job }) => count(job, -1));

  return async () => {
    const before = fetching;
    const { promise, resolve } = Promise.withResolvers<void>();
    fetching = promise;
    await before;
    fetched = resolve;
    return [...running].flatMap(([flag, count]) => (count >= (limitOf(flag) ?? Infinity) ? [flag] : []));
  };
}
