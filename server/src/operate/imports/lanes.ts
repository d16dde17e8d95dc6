import { availableParallelism } from 'node:os';

/**
 * Does the work of an import on all items, with as many at once as there are cores unless given, until it is stopped. After a failure no
 * further item begins, and the error is thrown once every lane has ended, so that nothing is written after it has been reported.
 */
export async function inLanes<T>(
  items: Iterable<T>,
  isStopped: () => boolean,
  work: (item: T) => Promise<void>,
  lanes = availableParallelism(),
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let hasFailed = false;
  const lane = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      if (isStopped() || hasFailed) return;
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
}
