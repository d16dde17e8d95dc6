import { expect, test } from 'vitest';
import { isFresh, keepSavedPosts } from '../src/lib/app/saved.ts';

/** A cache of responses in memory. */
function openCache() {
  const kept = new Map<string, Response>();
  const keyOf = (address: RequestInfo | URL) => String(address);
  return {
    match: async (address: RequestInfo | URL) => kept.get(keyOf(address))?.clone(),
    put: async (address: RequestInfo | URL, response: Response) => {
      kept.set(keyOf(address), response);
    },
    keys: async () => [],
    delete: async (address: RequestInfo | URL) => kept.delete(keyOf(address)),
  };
}

// APP-2
test('saved posts are read again when the last time was ten minutes ago', async () => {
  const cache = openCache();
  const readAt = Date.parse('2026-11-29T12:00:00Z');
  const fetch = async () =>
    new Response('{"items":[]}', { headers: { date: new Date(readAt).toUTCString() } });
  expect(await isFresh(cache, readAt)).toBe(false);
  await keepSavedPosts({ cache, fetch, isCurrent: () => true });
  expect(await isFresh(cache, readAt + 9 * 60_000)).toBe(true);
  expect(await isFresh(cache, readAt + 10 * 60_000)).toBe(false);
});
