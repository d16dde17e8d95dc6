import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio | undefined;

afterEach(async () => {
  await studio?.close();
  studio = undefined;
});

const notice = (page: Page) => page.getByText(/^(Too many requests|The connection to the library)/).last();

test('keeps the page when the connection is lost and continues when it is back', async () => {
  studio = await openStudio();
  const page = await studio.enter('mara');
  await page.goto('/');
  const trending = page.getByRole('link', { name: 'Trending', exact: true });
  await trending.waitFor();
  await page.context().setOffline(true);
  await trending.click();
  await notice(page).waitFor();
  await trending.waitFor();
  await expect.poll(() => notice(page).innerText()).toMatch(/lost\. Trying again/);
  await page.context().setOffline(false);
  await expect.poll(() => notice(page).isVisible(), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => trending.getAttribute('aria-current')).toBe('page');
  expect(studio.faults).toEqual([]);
});

test('shows when the page retries after too many requests, also on the first page of a visit', async () => {
  studio = await openStudio({ VITRINE_RATE_LIMITS: 'on', VITRINE_ANONYMOUS_LIMIT: '12' });
  const page = await studio.openPage();
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  for (let visits = 0; visits < 8; visits += 1) {
    await page.goto('/sign-in');
    if (await page.getByRole('heading', { name: 'Too many requests' }).isVisible()) break;
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  await page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  await expect.poll(() => page.getByRole('main').innerText()).toMatch(/Trying again in \d+ s\./);
});
