import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EncoderProcess, startEncoder } from '../support/encoder.ts';
import { altered, scene } from '../visual/scenes.ts';
import { settled, upload } from './call.ts';
import { openStudio, type Studio } from './studio.ts';

let encoder: EncoderProcess;
let studio: Studio;
let page: Page;

beforeAll(async () => {
  encoder = await startEncoder();
  studio = await openStudio({ VITRINE_ENCODER_URL: encoder.address });
  page = await studio.enter('mara');
});

afterAll(async () => {
  await studio.close();
  await encoder.stop();
});

/** Uploads a picture as the page's session, and waits until it has previews. */
async function add(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { id } = await upload(page, bytes, {}, name);
  expect(await settled(page, id)).toBe('ready');
  return id;
}

test('finds an asset by a similar picture, and similar assets of an asset', async () => {
  const original = await scene(3);
  const harbour = await add('harbour.jpg', original);
  const copy = await add('harbour-bright.jpg', await altered(original, 'bright'));
  await add('dunes.jpg', await scene(5));

  await page.goto('/assets');
  await page.getByRole('link', { name: 'Search by picture' }).click();
  const found = join(studio.directory, 'found.jpg');
  await writeFile(found, await altered(original, 'small'));
  const results = page.getByRole('list', { name: 'Similar pictures' });
  // The encoder processes a picture shortly after its preview.
  await expect
    .poll(
      async () => {
        await page.goto('/search/by-image');
        await page.getByLabel('Choose a picture').setInputFiles(found);
        await results.getByRole('link').first().waitFor();
        return results.getByRole('link').count();
      },
      { timeout: 20_000 },
    )
    .toBe(3);
  await expect.poll(() => results.getByRole('link').first().getAttribute('href')).toBe(`/assets/${harbour}`);
  await results.getByText('The same picture').first().waitFor();

  await results.getByRole('link').first().click();
  await page.getByRole('link', { name: 'Find similar' }).click();
  await expect.poll(() => results.getByRole('link').first().getAttribute('href')).toBe(`/assets/${copy}`);
  await page.getByRole('button', { name: 'Search by another picture' }).click();
  await page.getByLabel('Choose a picture').waitFor({ state: 'attached' });

  const broken = join(studio.directory, 'broken.jpg');
  await writeFile(broken, 'no picture');
  await page.getByLabel('Choose a picture').setInputFiles(broken);
  await page.getByRole('alert').getByText('not a readable picture').waitFor();
  if (process.env.SHOTS !== undefined) {
    await page.getByRole('button', { name: 'Search by another picture' }).click();
    await page.getByLabel('Choose a picture').setInputFiles(found);
    await results.getByRole('link').first().waitFor();
    await page.screenshot({ path: join(process.env.SHOTS, 'visual-desktop.png') });
    await page.setViewportSize({ width: 375, height: 720 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: join(process.env.SHOTS, 'visual-phone-dark.png') });
  }
  expect(studio.faults).toEqual([]);
});
