import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { naturalWidth, offerPassword, setUpByHand, signInButton, signOut } from './hands.ts';
import { type Studio, startStudio } from './studio.ts';

let studio: Studio;
let page: Page;

beforeAll(async () => {
  studio = await startStudio();
  page = await studio.openPage();
});

afterAll(() => studio.close());

test('sets up, uploads three files, publishes them, finds the post in the feed, and shows nothing after sign-out', async () => {
  await setUpByHand(page);

  await page.getByRole('link', { name: 'New post' }).first().click();
  const files: string[] = [];
  for (const [index, [width, height]] of [
    [1600, 1000],
    [900, 1400],
    [1200, 1200],
  ].entries()) {
    const path = join(studio.directory, `picture ${index}.jpg`);
    await writeFile(path, await jpeg(width ?? 1, height ?? 1, { seed: index }));
    files.push(path);
  }
  await page.getByLabel('Choose files').setInputFiles(files);
  await page.getByLabel('Title', { exact: true }).fill('Three mornings');
  const publish = page.getByRole('button', { name: 'Publish' });
  await publish.click();

  await page.getByRole('heading', { name: 'Three mornings' }).waitFor();
  await page.waitForURL(/\/posts\/[0-9a-f-]{36}/);
  const postAddress = page.url();

  await page.goto('/');
  const card = page.getByRole('link', { name: /Three mornings/ }).first();
  await card.waitFor();
  await expect.poll(() => naturalWidth(card.locator('img').first()), { timeout: 20_000 }).toBeGreaterThan(0);
  await card.click();
  await page.waitForURL(/\/posts\//);
  await page.keyboard.press('ArrowRight');

  await signOut(page);
  await expect.poll(() => page.getByText('Three mornings').count()).toBe(0);
  await page.goto(postAddress);
  await signInButton(page).waitFor();
  await expect.poll(() => page.getByText('Three mornings').count()).toBe(0);
  await page.goto('/');
  await signInButton(page).waitFor();
  await expect.poll(() => page.locator('main img').count()).toBe(0);

  await offerPassword(page, 'mara', 'wrong');
  await page.getByText('wrong username or password').waitFor();
  expect(studio.faults).toEqual([]);
});
