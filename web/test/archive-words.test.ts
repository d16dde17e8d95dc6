import { expect, test } from 'vitest';
import { archiveInWords } from '../src/lib/archives/words.ts';

test('says how many files of a ZIP are ready, and what became of it', () => {
  const progress = { id: '', files: 1200, made: 3, left_out: 0 };
  expect(archiveInWords({ ...progress, state: 'prepared', made: 0 })).toBe('0 of 1,200 files ready');
  expect(archiveInWords({ ...progress, state: 'running' })).toBe('3 of 1,200 files ready');
  expect(archiveInWords({ ...progress, state: 'stopped' })).toBe('Broken off after 3 of 1,200 files');
  expect(archiveInWords({ ...progress, state: 'done', left_out: 2 })).toBe('1,198 files packed, 2 left out');
  expect(archiveInWords({ ...progress, state: 'done', files: 1 })).toBe('1 file packed');
});
