import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let page: Page;

beforeAll(async () => {
  studio = await openStudio();
  page = await studio.enter('mara');
});

afterAll(() => studio?.close());

/** The pages that are loaded whole from now on, by their paths. */
function documentsOf(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'document') paths.push(new URL(request.url()).pathname);
  });
  return paths;
}

test('a missing page shows one message', async () => {
  const documents = documentsOf(page);
  await page.goto('/nowhere/at/all');
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(documents).toEqual(['/nowhere/at/all']);
  await page.getByRole('link', { name: 'To the feed' }).click();
  await page.getByRole('heading', { name: 'An empty showcase' }).waitFor();
  expect(studio.faults).toEqual([]);
});

test('reloads a page opened before an upgrade when its files are gone', async () => {
  await page.goto('/');
  await page.getByRole('heading', { name: 'An empty showcase' }).waitFor();
  const documents = documentsOf(page);
  // The server has other files now, and says that it is another version, until the page is loaded anew.
  const gone = '**/_app/immutable/**';
  const version = '**/_app/version.json';
  await page.route(gone, (route) => route.fulfill({ status: 404, body: 'not found' }));
  await page.route(version, (route) => route.fulfill({ json: { version: 'newer' } }));
  await page.route(
    (url) => url.pathname === '/tags',
    async (route) => {
      await page.unroute(gone);
      await page.unroute(version);
      await route.continue();
    },
  );
  await page.getByRole('link', { name: 'All tags' }).click();
  await page.getByRole('heading', { name: 'Tags', level: 1 }).waitFor();
  expect(documents).toEqual(['/tags']);
});
