import { type Operation, renewsSession } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { expect, test } from 'vitest';

const all: readonly Operation[] = Object.values(operations);

// SESSION-1
test('responses that caches store do not carry the session cookie', () => {
  const stored = all.filter(({ budget }) => budget === 'bytes');
  expect(stored.length).toBeGreaterThan(10);
  expect(stored.filter(renewsSession).map(({ id }) => id)).toEqual([]);
});

test('an operation that serves stored bytes has the parameters to find them', () => {
  const needed = { original: ['id'], rendition: ['id', 'key'], stream: ['id', 'name'] };
  const serving = all.flatMap((one) => (one.serves === undefined ? [] : [{ ...one, serves: one.serves }]));
  expect(serving.map(({ serves }) => serves).sort()).toEqual(['original', 'rendition', 'stream']);
  for (const { id, path, serves } of serving) {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters, id).toEqual(needed[serves]);
  }
});
