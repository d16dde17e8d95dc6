import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { png } from '../support/pictures.ts';
import { publish, upload } from './call.ts';
import { phone } from './hands.ts';
import { openStudio } from './studio.ts';

const budgets: Record<'feed' | 'sign-in', { scripts: number; kilobytes: number }> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../web/budgets.json'), 'utf8'),
);

const studio = await openStudio();
const mara = await studio.enter('mara', phone);
const { id } = await upload(mara, await png(90, 60));
await publish(mara, 'Pier', [id], { visibility: 'org-only' });

/** Returns the number and the compressed size of the scripts that a page loaded, and what it read more than once. */
async function loadedBy(page: Page): Promise<{ scripts: number; kilobytes: number; repeated: string[] }> {
  await page.waitForLoadState('networkidle');
  const loaded = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize })),
  );
  const scripts = loaded.filter(({ name }) => name.endsWith('.js'));
  const read = loaded
    .map(({ name }) => new URL(name))
    .filter(({ pathname }) => pathname.startsWith('/api/v1/'));
  const addresses = read.map(({ pathname, search }) => pathname + search);
  return {
    scripts: scripts.length,
    kilobytes: scripts.reduce((sum, { bytes }) => sum + bytes, 0) / 1024,
    repeated: addresses.filter((address, at) => addresses.indexOf(address) !== at),
  };
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
