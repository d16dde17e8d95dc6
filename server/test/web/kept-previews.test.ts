import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, settled, upload } from './call.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let mara: Page;
let preview: string;

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  const { id } = await upload(mara, await jpeg(900, 600));
  await settled(mara, id);
  const { file_hash } = await call(mara, 'GET', `/assets/${id}`);
  preview = `/api/v1/assets/${id}/variants/col?v=${file_hash}`;
});

afterAll(() => studio.close());

/** Requests the preview like a page; returns the bytes received over the network, or null if it is not shown. */
function bytesFetched(page: Page): Promise<number | null> {
  return page.evaluate(async (address) => {
    performance.clearResourceTimings();
    const response = await fetch(address);
    await response.arrayBuffer();
    const [entry] = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith(address));
    return response.ok && entry instanceof PerformanceResourceTiming ? entry.transferSize : null;
  }, preview);
}

test('browsers cache previews without revalidation and show none after sign-out', async () => {
  await mara.goto('/settings/profile');
  expect(await bytesFetched(mara)).toBeGreaterThan(0);
  expect(await bytesFetched(mara)).toBe(0);
  await mara.goto('/');
  expect(await bytesFetched(mara)).toBe(0);
  await mara.evaluate(() => fetch('/api/v1/auth/logout', { method: 'POST' }).then(({ status }) => status));
  expect(await bytesFetched(mara)).toBeNull();
  const cached = await mara.evaluate(
    (address) =>
      fetch(address, { cache: 'only-if-cached', mode: 'same-origin' }).then(
        ({ ok }) => ok,
        () => false,
      ),
    preview,
  );
  expect(cached).toBe(false);
});
