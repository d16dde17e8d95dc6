import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { advisoryLocks } from '../../src/platform/database/advisory-locks.ts';

const source = join(import.meta.dirname, '../../src');

test('every advisory lock has a number of its own', () => {
  const numbers = Object.values(advisoryLocks);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('no statement names an advisory lock by its number', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const named = files.filter((name) =>
    /pg_(?:try_)?advisory\w*\((?:\d|hashtext)/.test(readFileSync(join(source, name), 'utf8')),
  );
  expect(named).toEqual(['platform/database/take-lock.ts']);
});
