import { expect, test } from 'vitest';
import { refreshesItself, startedAgain } from '../src/lib/app/pull.ts';

const browser = (userAgent: string, mode = 'browser') => ({
  matchMedia: (query: string) => ({ matches: query === `(display-mode: ${mode})` }) as MediaQueryList,
  navigator: { userAgent } as Navigator,
});

// APP-6
test('pulls the feed itself in installed apps, and not in browsers of phones', () => {
  const phone = 'Mozilla/5.0 (Linux; Android 15; K) Chrome/140.0.0.0 Mobile Safari/537.36';
  expect(refreshesItself(browser(phone))).toBe(false);
  expect(refreshesItself(browser(phone, 'standalone'))).toBe(true);
  expect(refreshesItself(browser('Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0'))).toBe(true);
});

test('keeps the first page of a list, and leaves other data as it is', () => {
  const list = { pages: [1, 2, 3], pageParams: ['', 'a', 'b'] };
  expect(startedAgain(list)).toEqual({ pages: [1], pageParams: [''] });
  expect(startedAgain({ items: [1] })).toEqual({ items: [1] });
  expect(startedAgain(undefined)).toBeUndefined();
});
