import { expect, test } from 'vitest';
import { inStages } from '../../src/operate/imports/stages.ts';

interface Batch {
  id: number;
}

async function* batchesTo(last: number): AsyncGenerator<Batch> {
  for (let id = 1; id <= last; id += 1) yield { id };
}

/** Records what happens to batches. The stage of one of them fails. */
function recorder(failing: string | null = null) {
  const happened: string[] = [];
  const happens = async (what: string) => {
    happened.push(what);
    await Promise.resolve();
    if (what === failing) throw new Error(`${what} failed`);
    happened.push(`${what} ended`);
  };
  const discarded = new Set<number>();
  return {
    happened,
    discarded,
    stages: {
      prepare: ({ id }: Batch, before: Batch | null) =>
        happens(`prepare ${id} after ${before?.id ?? 'none'}`),
      write: ({ id }: Batch) => happens(`write ${id}`),
      discard: ({ id }: Batch) => {
        discarded.add(id);
      },
    },
  };
}

const place = (all: readonly string[], what: string) => {
  expect(all).toContain(what);
  return all.indexOf(what);
};

// IMPORT-16
test('a batch is prepared while the one before is written, and each is written once in order', async () => {
  const { happened, discarded, stages } = recorder();
  await inStages(batchesTo(4), stages);
  expect(happened.filter((what) => /^write \d$/.test(what))).toEqual([
    'write 1',
    'write 2',
    'write 3',
    'write 4',
  ]);
  expect(place(happened, 'prepare 3 after 2')).toBeLessThan(place(happened, 'write 2 ended'));
  expect(place(happened, 'prepare 3 after 2')).toBeGreaterThan(place(happened, 'write 1 ended'));
  expect(place(happened, 'write 3')).toBeGreaterThan(place(happened, 'prepare 3 after 2 ended'));
  expect(discarded.size).toBe(0);
});

test.each([
  // What writes or prepares a batch discards that batch itself.
  ['write 2', [3, 4]],
  ['prepare 3 after 2', [3, 4]],
])('after "%s" fails nothing more begins, and what is not written is discarded', async (failing, left) => {
  const { happened, discarded, stages } = recorder(failing);
  await expect(inStages(batchesTo(9), stages)).rejects.toThrow(`${failing} failed`);
  expect(happened.some((what) => /^(?:write 3|prepare 4)/.test(what))).toBe(false);
  expect([...discarded].toSorted()).toEqual(left);
});

test('a batch that cannot be read ends the import after the work that is under way', async () => {
  const { happened, discarded, stages } = recorder();
  async function* broken() {
    yield* batchesTo(2);
    throw new Error('the source is gone');
  }
  await expect(inStages(broken(), stages)).rejects.toThrow('the source is gone');
  expect(happened).toContain('write 1 ended');
  expect([...discarded]).toEqual([2]);
});
