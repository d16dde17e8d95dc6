import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { WorkerEvents } from 'graphile-worker';
import { afterEach, expect, test, vi } from 'vitest';
import { limitFlags } from '../../src/platform/jobs/limit-flags.ts';

/** A runner whose only kind of jobs has one place, and the clock of its fetches. */
function openRunner() {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const events = new EventEmitter();
  const stopping = new AbortController();
  // The emitter's type lists one signature per event.
  const forbidden = limitFlags(
    (running) => (running.has('slow') ? ['slow'] : []),
    events as unknown as WorkerEvents,
    stopping.signal,
  );
  const slow = { job: { flags: { slow: true } } };
  return {
    stopping,
    pass: (ms: number) => {
      now += ms;
    },
    /** Begins a fetch. Returns the flags that it skips, once it may begin. */
    fetch: () => {
      const begun: { flags?: string[] } = {};
      void forbidden().then((flags) => {
        begun.flags = flags;
      });
      return begun;
    },
    start: () => events.emit('job:start', slow),
    complete: () => events.emit('job:complete', slow),
    findNothing: () => events.emit('worker:getJob:empty', {}),
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Lets promises settle. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await turn();
}

/** Opens a runner whose slow job runs and whose last fetch found nothing in this time. */
async function afterEmptyFetch(ms: number) {
  const runner = openRunner();
  runner.fetch();
  await settle();
  runner.start();
  runner.fetch();
  await settle();
  runner.pass(ms);
  runner.findNothing();
  return runner;
}

test('repeats a long fetch that found nothing only after five times its duration', async () => {
  const runner = await afterEmptyFetch(100);
  const again = runner.fetch();
  await settle();
  expect(again.flags).toBeUndefined();
  runner.pass(501);
  await expect.poll(() => again.flags).toEqual(['slow']);
});

test('fetches at once when a job has ended, and only once', async () => {
  const runner = await afterEmptyFetch(100);
  const waiting = [runner.fetch(), runner.fetch()];
  await settle();
  runner.complete();
  await settle();
  expect(waiting.filter(({ flags }) => flags !== undefined)).toEqual([{ flags: [] }]);
  runner.start();
  await settle();
  expect(waiting.filter(({ flags }) => flags !== undefined)).toHaveLength(1);
});

test('repeats a short fetch at once', async () => {
  const runner = await afterEmptyFetch(5);
  const again = runner.fetch();
  await settle();
  expect(again.flags).toEqual(['slow']);
});

test('no longer pauses when it stops', async () => {
  const runner = await afterEmptyFetch(100);
  const again = runner.fetch();
  await settle();
  runner.stopping.abort();
  await settle();
  expect(again.flags).toEqual(['slow']);
});
