import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-web-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory);
  browser = await openBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
});

afterAll(async () => {
  await browser.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('the main job: set up, upload three files, publish, see it in the feed, sign out, see nothing', async () => {
  await page.goto(service.address);
  await page.getByLabel('Library name').fill('Studio North');
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill('a long password');
  await page.getByLabel('Type it again').fill('a long password');
  await page.getByRole('button', { name: 'Create library' }).click();

  await page.getByRole('link', { name: 'New post' }).first().click();
  const files: string[] = [];
  for (const [index, [width, height]] of [
    [1600, 1000],
    [900, 1400],
    [1200, 1200],
  ].entries()) {
    const path = join(directory, `picture ${index}.jpg`);
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

  await page.goto(service.address);
  const card = page.getByRole('link', { name: /Three mornings/ }).first();
  await card.waitFor();
  await expect
    .poll(
      () =>
        card
          .locator('img')
          .first()
          .evaluate((img: HTMLImageElement) => img.naturalWidth),
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
  await card.click();
  await page.waitForURL(/\/posts\//);
  await page.keyboard.press('ArrowRight');

  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByText('Sign out', { exact: true }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('Three mornings').count()).toBe(0);
  await page.goto(postAddress);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('Three mornings').count()).toBe(0);
  await page.goto(service.address);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await page.locator('main img').count()).toBe(0);

  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('wrong username or password').waitFor();
  expect(faults).toEqual([]);
}, 120_000);
