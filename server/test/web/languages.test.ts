import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { publish, uploadReady } from './call.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();

// LANGUAGE-1
test('the pages have the language of the browser, or the one that the person chose', async () => {
  const visitor = await studio.openPage({ locale: 'de-AT' });
  await visitor.goto('/sign-in');
  await visitor.getByRole('button', { name: 'Anmelden', exact: true }).waitFor();
  await expect.poll(() => visitor.locator('html').getAttribute('lang')).toBe('de');

  const mara = await studio.enter('mara', { locale: 'de-AT' });
  await mara.goto('/assets');
  await mara.getByRole('heading', { name: 'Assets' }).waitFor();
  await mara.goto('/settings/preferences');
  await mara.getByRole('combobox', { name: 'Sprache' }).selectOption('ar');
  await mara.locator('html[lang="ar"][dir="rtl"]').waitFor();
  await expect.poll(() => mara.locator('h1').textContent()).toMatch(/\p{Script=Arabic}/u);
  await mara.goto('/');
  await expect.poll(() => mara.locator('html').getAttribute('lang')).toBe('ar');
});

// LANGUAGE-1
test('on a page that is written from right to left, the next picture is to the left', async () => {
  const page = await studio.enter('mara', { locale: 'ar-EG' });
  const first = await uploadReady(page, await jpeg(60, 40));
  const second = await uploadReady(page, await jpeg(60, 40, { seed: 2 }));
  await page.goto(`/posts/${await publish(page, 'Pair', [first, second])}`);
  const carousel = page.locator('section[aria-roledescription]');
  const position = () => carousel.locator('p').textContent();
  await carousel.locator('img').first().waitFor();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(position).toContain('2 / 2');
  await page.keyboard.press('ArrowRight');
  await expect.poll(position).toContain('1 / 2');
});
