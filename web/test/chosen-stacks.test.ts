import type { Asset } from '@vitrine/contract/assets';
import { mostStacked } from '@vitrine/contract/stacks';
import { expect, test } from 'vitest';
import { chosenStacks } from '#lib/stacks/chosen.ts';

// Only what the function reads.
const list = [
  { id: 'a', restricted: false, stack: { id: 's', assets: ['a', 'b'] } },
  { id: 'c', restricted: false },
  { id: 'd', restricted: true },
] as unknown as Asset[];

// STACK-1
test('stacks the selected files together with the files of selected stacks', () => {
  expect(chosenStacks(list, ['a', 'c'])).toEqual({ together: ['a', 'b', 'c'], stacks: ['s'] });
  expect(chosenStacks(list, ['c', 'a']).together).toEqual(['c', 'a', 'b']);
});

// STACK-1
test('does not stack a single file, or more files than a stack can have', () => {
  expect(chosenStacks(list, ['a'])).toEqual({ together: [], stacks: ['s'] });
  const many = Array.from({ length: mostStacked + 1 }, (_, at) => `file ${at}`);
  expect(chosenStacks(list, many)).toEqual({ together: [], stacks: [] });
  expect(chosenStacks(list, [...many.slice(2), 'a']).together).toEqual([]);
});
