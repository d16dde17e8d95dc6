/** What happens to a batch after it was read. */
interface Stages<Batch> {
  /** Prepares a batch while `before` is written. Discards it before throwing. */
  prepare(batch: Batch, before: Batch | null): Promise<void>;
  /** Writes a batch, and discards what remains of it whether or not that succeeds. */
  write(batch: Batch): Promise<void>;
  discard(batch: Batch): void;
}

/** Waits until all of this work has ended, and then throws its first error. */
async function settle(work: readonly Promise<unknown>[]): Promise<void> {
  for (const ended of await Promise.allSettled(work)) if (ended.status === 'rejected') throw ended.reason;
}

/**
 * Takes batches through three stages: while one is written, the next is prepared and the one after that is read. After a failure
 * nothing more begins, and all batches that are not written have been discarded when the error is thrown.
 */
export async function inStages<Batch>(
  read: AsyncIterable<Batch>,
  { prepare, write, discard }: Stages<Batch>,
): Promise<void> {
  let prepared: Batch | null = null;
  let underWay: Promise<void> = Promise.resolve();
  try {
    for await (const batch of read) {
      await underWay.catch((error: unknown) => {
        discard(batch);
        throw error;
      });
      const before: Batch | null = prepared;
      prepared = batch;
      underWay = settle([before === null ? Promise.resolve() : write(before), prepare(batch, before)]);
      // The error is thrown where the promise is awaited.
      underWay.catch(() => {});
    }
    await underWay;
  } catch (error) {
    await underWay.catch(() => {});
    if (prepared !== null) discard(prepared);
    throw error;
  }
  if (prepared !== null) await write(prepared);
}
