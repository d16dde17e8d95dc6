import { expect, test } from 'vitest';
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
