import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batchByKey } from '../../src/platform/database/batch.ts';

/** A gathering whose calls the test answers. */
function heldBack() {
  const calls: { key: string; questions: readonly number[]; end: PromiseWithResolvers<void> }[] = [];
  const ask = batchByKey(async (key: string, questions: readonly number[]) => {
    const end = Promise.withResolvers<void>();
    calls.push({ key, questions, end });
    await end.promise;
    return questions.map((question) => `${key} ${question}`);
  });
  return { calls, ask };
}

test('answers concurrent questions with one call', async () => {
  const { calls, ask } = heldBack();
  const answers = Promise.all([ask('a', 1), ask('a', 2), ask('a', 3)]);
  await nextTurn();
  expect(calls.map(({ questions }) => questions)).toEqual([[1, 2, 3]]);
  calls[0]?.end.resolve();
  expect(await answers).toEqual(['a 1', 'a 2', 'a 3']);
});

test('defers a question to the next call while one is running', async () => {
  const { calls, ask } = heldBack();
  const first = ask('a', 1);
  await nextTurn();
  const later = [ask('a', 2), ask('a', 3)];
  await nextTurn();
  expect(calls.map(({ questions }) => questions)).toEqual([[1]]);
  calls[0]?.end.resolve();
  expect(await first).toBe('a 1');
  await nextTurn();
  expect(calls.map(({ questions }) => questions)).toEqual([[1], [2, 3]]);
  calls[1]?.end.resolve();
  expect(await Promise.all(later)).toEqual(['a 2', 'a 3']);
});

test('runs calls of different keys independently', async () => {
  const { calls, ask } = heldBack();
  const answers = Promise.all([ask('a', 1), ask('b', 1)]);
  await nextTurn();
  expect(calls.map(({ key }) => key)).toEqual(['a', 'b']);
  for (const { end } of calls) end.resolve();
  expect(await answers).toEqual(['a 1', 'b 1']);
});

test('splits questions beyond the limit of one call', async () => {
  const { calls, ask } = heldBack();
  const answers = Promise.all(Array.from({ length: 250 }, (_, at) => ask('a', at)));
  for (let call = 0; call < 2; call += 1) {
    await nextTurn();
    calls[call]?.end.resolve();
    await nextTurn();
  }
  expect((await answers).at(-1)).toBe('a 249');
  expect(calls.map(({ questions }) => questions.length)).toEqual([200, 50]);
});

test('rejects only the questions of a failed call', async () => {
  const { calls, ask } = heldBack();
  const failed = ask('a', 1);
  await nextTurn();
  const later = ask('a', 2);
  calls[0]?.end.reject(new Error('the database is gone'));
  await expect(failed).rejects.toThrow('the database is gone');
  await nextTurn();
  calls[1]?.end.resolve();
  expect(await later).toBe('a 2');
});
