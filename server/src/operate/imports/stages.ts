/** What happens to a batch after it was read. */
interface Stages<Batch> {
  /** Prepares a batch while those `before` it, oldest first, are prepared or written. */
  prepare(batch: Batch, before: readonly Batch[]): Promise<void>;
  /** Writes a batch, and discards what remains of it whether or not that succeeds. */
  write(batch: Batch): Promise<void>;
  /** Discards what remains of a batch; idempotent. */
  discard(batch: Batch): void;
}

/** One is written, or waits to be, while the other is prepared. */
const MOST_UNWRITTEN = 2;

/**
 * Takes batches through three stages: one is written, the next is prepared and the one after that is read, and none waits for another
 * stage to end that it does not need. Batches are written in their order. After a failure nothing more begins, and all batches that
 * are not written have been discarded when the first error is thrown.
 */
export async function inStages<Batch>(
  read: AsyncIterable<Batch>,
  { prepare, write, discard }: Stages<Batch>,
): Promise<void> {
  const failures: unknown[] = [];
  const unwritten: { batch: Batch; written: Promise<void> }[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
  };
  const begin = (batch: Batch): Promise<void> => {
    const before = unwritten.map((earlier) => earlier.batch);
    const previous = unwritten.at(-1)?.written;
    const preparing = prepare(batch, before).catch(fail);
    const finish = async () => {
      await preparing;
      await previous;
      if (failures.length > 0) discard(batch);
      else await write(batch).catch(fail);
      unwritten.shift();
    };
    return finish();
  };
  try {
    for await (const batch of read) {
      if (unwritten.length >= MOST_UNWRITTEN) await unwritten[0]?.written;
      if (failures.length > 0) {
        discard(batch);
        break;
      }
      unwritten.push({ batch, written: begin(batch) });
    }
  } catch (error) {
    fail(error);
  }
  await unwritten.at(-1)?.written;
  if (failures.length > 0) throw failures[0];
}
