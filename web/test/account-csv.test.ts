import type { UserCsvResult } from '@vitrine/contract/user-csv';
import { expect, test } from 'vitest';
import { accountsCsvAddress, byRow, doneInWords, foreseenInWords } from '#lib/admin/people/csv-words.ts';

const nothing: UserCsvResult = {
  rows: 0,
  created: 0,
  changed: 0,
  unchanged: 0,
  changes: [],
  refused: [],
  refused_count: 0,
};

test('an import says what it would do, and what it did', () => {
  expect(foreseenInWords(nothing)).toEqual(['The file has no rows.']);
  const some = { ...nothing, rows: 7, created: 1, changed: 2, unchanged: 1, refused_count: 3 };
  expect(foreseenInWords(some)).toEqual([
    '1 account will be created.',
    '2 accounts will be changed.',
    '1 row says what is already there.',
    '3 rows will be left out:',
  ]);
  expect(doneInWords(some)).toEqual([
    '1 account was created.',
    '2 accounts were changed.',
    '1 row says what is already there.',
    '3 rows were left out:',
  ]);
  expect(foreseenInWords({ ...nothing, rows: 2, unchanged: 2 })).toEqual([
    'Nothing would change.',
    '2 rows say what is already there.',
  ]);
});

test('changes are grouped by their row, in the order of the file', () => {
  const change = { field: 'role', from: null, to: 'viewer' } as const;
  const changes = [
    { row: 2, username: 'ann', ref: 1, ...change },
    { row: 2, username: 'ann', ref: 1, ...change, field: 'email' as const },
    { row: 3, username: 'ben', ...change },
  ];
  expect(
    byRow({ ...nothing, changes }).map(({ row, isNew, changes: own }) => [row, isNew, own.length]),
  ).toEqual([
    [2, false, 2],
    [3, true, 1],
  ]);
});

test('the address of an export has the filters of the list', () => {
  expect(accountsCsvAddress({ q: 'a b', can_sign_in: false })).toBe(
    '/api/v1/admin/users/export.csv?q=a+b&can_sign_in=false&bom=true',
  );
});
