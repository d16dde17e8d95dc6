import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EncoderProcess, startEncoder } from '../support/encoder.ts';
import { altered, scene } from '../visual/scenes.ts';
import { uploadReady } from './call.ts';
import { visit } from './hands.ts';
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

test('finds an asset by a similar picture, and similar assets of an asset', async () => {
  const original = await scene(3);
  const harbour = await uploadReady(page, original);
  const copy = await uploadReady(page, await altered(original, 'bright'));
  await uploadReady(page, await scene(5));

  await page.goto('/assets');
  await page.getByRole('link', { name: 'Search by picture' }).click();
  const fileOf = (buffer: Buffer) => ({ name: 'found.jpg', mimeType: 'image/jpeg', buffer });
  const found = fileOf(Buffer.from(await altered(original, 'small')));
  const results = page.getByRole('list', { name: 'Similar pictures' });
  // The encoder processes a picture shortly after its preview.
  await expect
    .poll(
      async () => {
        await visit(page, '/assets');
        await visit(page, '/search/by-image');
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

  await page.getByLabel('Choose a picture').setInputFiles(fileOf(Buffer.from('no picture')));
  await page.getByRole('alert').getByText('not a readable picture').waitFor();
});
