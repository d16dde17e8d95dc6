import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { png } from '../support/pictures.ts';
import { callFrom, publish, uploadReady } from './call.ts';
import { phone } from './hands.ts';
import { openStudio } from './studio.ts';

const budgets: Record<'feed' | 'sign-in' | 'post' | 'link', { scripts: number; kilobytes: number }> =
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../web/budgets.json'), 'utf8'));

const studio = await openStudio();
const mara = await studio.enter('mara', phone);
// While a picture is rendered, the feed asks for it.
const id = await uploadReady(mara, await png(90, 60));
const pier = await publish(mara, 'Pier', [id], { visibility: 'org-only' });

/** Returns the number and the compressed size of the scripts that a page loaded, and what it read more than once. */
async function loadedBy(page: Page): Promise<{ scripts: number; kilobytes: number; repeated: string[] }> {
  await page.waitForLoadState('networkidle');
  const everything = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .map(({ name, encodedBodySize, startTime, responseEnd }) => ({
        name,
        bytes: encodedBodySize,
        from: startTime,
        to: responseEnd,
      })),
  );
  // After four quiet seconds the app starts (APP-4), which is not part of the page.
  const start = everything.findIndex(
    ({ from }, at) => at > 0 && from - Math.max(...everything.slice(0, at).map(({ to }) => to)) > 3500,
  );
  const loaded = start < 0 ? everything : everything.slice(0, start);
  const scripts = loaded.filter(({ name }) => name.endsWith('.js'));
  const read = loaded
    .map(({ name }) => new URL(name))
    .filter(({ pathname }) => pathname.startsWith('/api/v1/'));
  // What came with the page counts as read.
  const brought: string[] = await page.evaluate(() =>
    JSON.parse(document.getElementById('first-answers')?.textContent || '[]'),
  );
  const addresses = [...brought, ...read.map(({ pathname, search }) => pathname + search)];
  return {
    scripts: scripts.length,
    kilobytes: scripts.reduce((sum, { bytes }) => sum + bytes, 0) / 1024,
    repeated: addresses.filter((address, at) => addresses.indexOf(address) !== at),
  };
}

/** Sums up how far the layout of the next documents of a page shifts, without an action of the reader. */
async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Object.assign(window, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        // TypeScript's DOM has no type for these entries.
        const { value, hadRecentInput } = entry as PerformanceEntry & {
          value: number;
          hadRecentInput: boolean;
        };
        if (!hadRecentInput)
          Object.assign(window, { shift: (window as unknown as { shift: number }).shift + value });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Returns the sum in the current document. */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { shift: number }).shift);
}

// What is needed only after a press is loaded then.
test('the feed needs few small scripts, and reads nothing twice', async () => {
  await mara.goto('/');
  await mara.getByRole('link', { name: /Pier/ }).waitFor();
  const { scripts, kilobytes, repeated } = await loadedBy(mara);
  expect(repeated).toEqual([]);
  expect(scripts).toBeLessThanOrEqual(budgets.feed.scripts);
  expect(kilobytes).toBeLessThanOrEqual(budgets.feed.kilobytes);
});

test('signing in needs no scripts of the library', async () => {
  const visitor = await studio.openPage(phone);
  await visitor.goto('/sign-in');
  await visitor.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  const { scripts, kilobytes, repeated } = await loadedBy(visitor);
  expect(repeated).toEqual([]);
  expect(scripts).toBeLessThanOrEqual(budgets['sign-in'].scripts);
  expect(kilobytes).toBeLessThanOrEqual(budgets['sign-in'].kilobytes);
});

test('a link of several files loads few scripts of the library', async () => {
  const several = await publish(mara, 'Quay', [id, await uploadReady(mara, await png(60, 90))]);
  const { text } = await callFrom(mara, 'POST', `/posts/${several}/links`, {});
  const visitor = await studio.openPage(phone);
  await visitor.goto(new URL(JSON.parse(text).url, studio.address).pathname);
  await visitor.getByRole('heading', { name: 'Quay' }).waitFor();
  await visitor.getByLabel('Layout').waitFor();
  const { scripts, kilobytes, repeated } = await loadedBy(visitor);
  expect(repeated).toEqual([]);
  expect(scripts).toBeLessThanOrEqual(budgets.link.scripts);
  expect(kilobytes).toBeLessThanOrEqual(budgets.link.kilobytes);
});

test('the page of a post loads few scripts, and nothing on it moves meanwhile', async () => {
  const reader = await studio.enter('mara', phone);
  await watchShifts(reader);
  await reader.goto(`/posts/${pier}`);
  await reader.getByRole('button', { name: /^Watch|^Stop watching/ }).waitFor();
  const { scripts, kilobytes, repeated } = await loadedBy(reader);
  expect(repeated).toEqual([]);
  expect(scripts).toBeLessThanOrEqual(budgets.post.scripts);
  expect(kilobytes).toBeLessThanOrEqual(budgets.post.kilobytes);
  expect(await shiftOf(reader)).toBeLessThan(0.01);
});

test('nothing moves while the feed appears, also with more posts than a page', async () => {
  const titles = Array.from({ length: 51 }, (_, at) => `Wave ${at}`);
  await Promise.all(titles.map((title) => publish(mara, title, [id], { visibility: 'org-only' })));
  const reader = await studio.enter('mara', phone);
  await watchShifts(reader);
  await reader.goto('/');
  await reader.getByRole('link', { name: /Wave/ }).first().waitFor();
  await reader.waitForLoadState('networkidle');
  expect(await shiftOf(reader)).toBeLessThan(0.01);
});
