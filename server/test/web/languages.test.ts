import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
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
  await mara.locator('header').getByRole('button').last().click();
  const menu = mara.getByRole('menu');
  await expect.poll(() => menu.evaluate((one) => getComputedStyle(one).direction)).toBe('rtl');
});

// LANGUAGE-1
test('on a page that is written from right to left, the next picture and the next file are to the left', async () => {
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
  await page.goto('/assets');
  const tile = (id: string) => page.locator(`a[href="/assets/${id}"]`).first();
  const leftOf = async (id: string) => (await tile(id).boundingBox())?.x ?? 0;
  await tile(first).waitFor();
  // The newest is the first.
  expect(await leftOf(second)).toBeGreaterThan(await leftOf(first));
  await tile(second).focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => tile(first).evaluate((link) => link === document.activeElement)).toBe(true);
});

// LANGUAGE-6, LANGUAGE-8
test('pages of administrators show the labels of a new library in the language of the reader', async () => {
  const mara = await studio.enter('mara');
  await call(mara, 'PATCH', '/account/preferences', { language: 'de' });
  const asset = await uploadReady(mara, await jpeg(60, 40, { seed: 3 }), { title: 'Leuchtturm' });
  await call(mara, 'PUT', `/posts/${await publish(mara, 'Im Nebel', [asset])}/featured`);

  await mara.goto('/admin/roles');
  await mara.getByText('Verwaltet die Bibliothek und sieht alles in ihr.').waitFor();
  await mara.getByText('Kommentiert und annotiert überall, wo Lesen erlaubt ist.').first().waitFor();
  await mara.goto('/admin/fields');
  await mara.getByRole('link', { name: 'Aufnahmedatum', exact: true }).waitFor();
  await mara.goto('/search?q=leuchtturm');
  await mara
    .getByRole('region', { name: 'Nach Typ eingrenzen' })
    .getByRole('link', { name: /^Bild/ })
    .waitFor();
  await mara.goto('/admin/audit');
  await mara.getByRole('link', { name: '„Im Nebel“', exact: true }).waitFor();
});

// LANGUAGE-6
test('saving the workflow in another language keeps the stored names that nobody changed', async () => {
  const mara = await studio.enter('mara', { locale: 'de-AT' });
  await call(mara, 'PATCH', '/account/preferences', { language: 'de' });
  await mara.goto('/admin/reviews');
  const files = mara.getByRole('region', { name: 'Dateien' });
  await files.getByRole('group', { name: 'In Arbeit' }).getByLabel('Name').fill('Entwurf');
  await mara.getByRole('button', { name: 'Stände speichern' }).click();
  await mara.getByText('Gespeichert', { exact: true }).waitFor();
  const { states } = await call(mara, 'GET', '/admin/system/workflow');
  const labels = states
    .filter(({ domain }: { domain: string }) => domain === 'asset')
    .map(({ label }: { label: string }) => label);
  expect(labels).toContain('Entwurf');
  expect(labels).toContain('In review');
});
