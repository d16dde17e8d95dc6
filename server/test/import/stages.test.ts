import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inStages } from '../../src/operate/imports/stages.ts';

interface Batch {
  id: number;
}

async function* batchesTo(last: number): AsyncGenerator<Batch> {
  for (let id = 1; id <= last; id += 1) yield { id };
}

/** Stages of which each waits until the test ends it, and what has happened. */
function conductor() {
  const happened: string[] = [];
  const discarded = new Set<number>();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (what: string) => {
    const end = ends.get(what) ?? Promise.withResolvers<void>();
    ends.set(what, end);
    return end;
  };
  const happens = async (what: string) => {
    happened.push(what);
    await endOf(what).promise;
  };
  return {
    happened,
    discarded,
    /** Ends stages, before or after they begin, and waits until everything has happened that they let happen. */
    async end(...stages: readonly string[]) {
      for (const stage of stages) endOf(stage).resolve();
      await setImmediate();
    },
    async fail(stage: string) {
      endOf(stage).reject(new Error(`${stage} failed`));
      await setImmediate();
    },
    stages: {
      prepare: ({ id }: Batch, before: readonly Batch[]) =>
        happens(before.length === 0 ? `prepare ${id}` : `prepare ${id} after ${before.map((one) => one.id)}`),
      write: ({ id }: Batch) => happens(`write ${id}`),
      discard: ({ id }: Batch) => {
        discarded.add(id);
      },
    },
  };
}

// IMPORT-16
test('a batch is prepared while the one before is prepared or written, and each is written once in order', async () => {
  const { happened, discarded, end, stages } = conductor();
  const ended = inStages(batchesTo(4), stages);
  await end();
  expect(happened).toEqual(['prepare 1', 'prepare 2 after 1']);
  await end('prepare 2 after 1');
  expect(happened).toHaveLength(2);
  await end('prepare 1');
  expect(happened.slice(2)).toEqual(['write 1']);
  await end('write 1');
  expect(happened.slice(3).toSorted()).toEqual(['prepare 3 after 2', 'write 2']);
  await end('write 2', 'prepare 3 after 2');
  expect(happened.slice(5).toSorted()).toEqual(['prepare 4 after 3', 'write 3']);
  await end('write 3', 'prepare 4 after 3', 'write 4');
  await ended;
  expect(happened.slice(7)).toEqual(['write 4']);
  expect(discarded.size).toBe(0);
});

test('after writing fails nothing more begins, and what is not written is discarded', async () => {
  const { happened, discarded, end, fail, stages } = conductor();
  const ended = expect(inStages(batchesTo(9), stages)).rejects.toThrow('write 1 failed');
  await end('prepare 1', 'prepare 2 after 1');
  await fail('write 1');
  await ended;
  expect(happened).toEqual(['prepare 1', 'prepare 2 after 1', 'write 1']);
  // What writes a batch discards that batch itself.
  expect([...discarded].toSorted()).toEqual([2, 3]);
});

test('after preparing fails nothing more begins, and what is not written is discarded', async () => {
  const { happened, discarded, end, fail, stages } = conductor();
  const ended = expect(inStages(batchesTo(9), stages)).rejects.toThrow('prepare 2 after 1 failed');
  await end('prepare 1');
  await fail('prepare 2 after 1');
  expect(happened).toEqual(['prepare 1', 'prepare 2 after 1', 'write 1']);
  await end('write 1');
  await ended;
  expect(happened).toHaveLength(3);
  expect([...discarded].toSorted()).toEqual([2, 3]);
});

test('a batch that cannot be read ends the import after the work that is under way', async () => {
  const { happened, discarded, end, stages } = conductor();
  const broken = Promise.withResolvers<void>();
  async function* source() {
    yield* batchesTo(2);
    await broken.promise;
    throw new Error('the source is gone');
  }
  const ended = expect(inStages(source(), stages)).rejects.toThrow('the source is gone');
  await end('prepare 1');
  broken.resolve();
  await end('prepare 2 after 1');
  expect(happened).toEqual(['prepare 1', 'prepare 2 after 1', 'write 1']);
  await end('write 1');
  await ended;
  expect(happened).toHaveLength(3);
  expect([...discarded]).toEqual([2]);
});
