import { describe, expect, it } from 'vitest';
import { bytesOf, gigabytesOf } from '#lib/quotas/gigabytes.ts';

describe('a quota in gigabytes', () => {
  it.each([
    ['', null],
    ['5', 5_000_000_000],
    ['1.5', 1_500_000_000],
    ['0,25', 250_000_000],
    ['0', 0],
  ])('reads %j', (typed, bytes) => {
    expect(bytesOf(typed)).toBe(bytes);
    expect(gigabytesOf(bytes)).toBe(typed.replace(',', '.'));
  });

  it.each(['five', '-1', '1e3', '5 GB', '1.2.3', '99999999'])('does not read %j', (typed) => {
    expect(bytesOf(typed)).toBeUndefined();
  });
});
