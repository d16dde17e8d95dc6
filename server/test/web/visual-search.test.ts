import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { type EncoderProcess, startEncoder } from '../support/encoder.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { altered, scene } from '../visual/scenes.ts';

let directory: string;
let encoder: EncoderProcess;
let service: ServiceProcess;
let browser: Browser;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-visual-'));
  await chmod(directory, 0o755);
  encoder = await startEncoder();
  service = await startProcess(directory, { VITRINE_ENCODER_URL: encoder.address });
  browser = await openBrowser();
  page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(service.address);
  await page.getByLabel('Library name').fill('Studio North');
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill('a long password');
  await page.getByLabel('Type it again').fill('a long password');
  await page.getByRole('button', { name: 'Create library' }).click();
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  service?.child.kill('SIGTERM');
  expect(await service?.exited).toBe(0);
  await encoder?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Uploads a picture as the page's session, and waits until it has previews. */
async function add(name: string, bytes: Uint8Array): Promise<string> {
  return page.evaluate(
    async ({ name, numbers }) => {
      const body = new FormData();
      body.append('file', new Blob([Uint8Array.from(numbers)]), name);
      const { id } = await (await fetch('/api/v1/assets', { method: 'POST', body })).json();
      for (let tries = 0; tries < 100; tries += 1) {
        const asset = await (await fetch(`/api/v1/assets/${id}`)).json();
        if (asset.preview_available) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return String(id);
    },
    { name, numbers: [...bytes] },
  );
}

test('a picture found elsewhere leads to the one in the library, and an asset to those like it', async () => {
  const original = await scene(3);
  const harbour = await add('harbour.jpg', original);
  const copy = await add('harbour-bright.jpg', await altered(original, 'bright'));
  await add('dunes.jpg', await scene(5));

  await page.goto(`${service.address}/assets`);
  await page.getByRole('link', { name: 'Search by picture' }).click();
  const found = join(directory, 'found.jpg');
  await writeFile(found, await altered(original, 'small'));
  const results = page.getByRole('list', { name: 'Pictures like it' });
  // The encoder comes to a picture shortly after its preview.
  await expect
    .poll(
      async () => {
        await page.goto(`${service.address}/search/by-image`);
        await page.getByLabel('Choose a picture').setInputFiles(found);
        await results.getByRole('link').first().waitFor();
        return results.getByRole('link').count();
      },
      { timeout: 20_000 },
    )
    .toBe(3);
  expect(await results.getByRole('link').first().getAttribute('href')).toBe(`/assets/${harbour}`);
  await results.getByText('The same picture').first().waitFor();

  await results.getByRole('link').first().click();
  await page.getByRole('link', { name: 'Find similar' }).click();
  expect(await results.getByRole('link').first().getAttribute('href')).toBe(`/assets/${copy}`);
  await page.getByRole('button', { name: 'Search by another picture' }).click();
  await page.getByLabel('Choose a picture').waitFor({ state: 'attached' });

  const broken = join(directory, 'broken.jpg');
  await writeFile(broken, 'no picture');
  await page.getByLabel('Choose a picture').setInputFiles(broken);
  await page.getByRole('alert').getByText('no picture that can be read').waitFor();
  if (process.env.SHOTS !== undefined) {
    await page.getByRole('button', { name: 'Search by another picture' }).click();
    await page.getByLabel('Choose a picture').setInputFiles(found);
    await results.getByRole('link').first().waitFor();
    await page.screenshot({ path: join(process.env.SHOTS, 'visual-desktop.png') });
    await page.setViewportSize({ width: 375, height: 720 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: join(process.env.SHOTS, 'visual-phone-dark.png') });
  }
  expect(faults).toEqual([]);
}, 90_000);
