import { rejectionErrors } from '@vitrine/contract/errors/rejections';
import { expect, test } from 'vitest';
import { rejectionInWords } from '#lib/federation/words.ts';

test('each reason of the protocol between libraries has its own words, and an unknown one has some', () => {
  const reasons = Object.values(rejectionErrors).map(({ text }) => text);
  expect(rejectionInWords('stale_request')).toBe(
    'It is too old, or the clocks differ by more than five minutes.',
  );
  expect(new Set(reasons.map(rejectionInWords)).size).toBe(reasons.length);
  expect(rejectionInWords('constructor')).toBe('It was refused.');
});
