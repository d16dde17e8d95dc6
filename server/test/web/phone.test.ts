import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { isFocused, overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara', phone);
const visitor = await studio.openPage(phone);
const pictures = await Promise.all(
  Array.from({ length: 12 }, async (_, at) =>
    uploadReady(mara, await jpeg(300, 200, { seed: at + 1 }), { title: `File ${at + 1}` }),
  ),
);
const post = await publish(mara, 'Harbour', pictures, { visibility: 'public' });
await call(mara, 'POST', '/collections', { name: 'Coasts' });

const shortcuts = (page: Page) => page.getByRole('navigation', { name: 'Shortcuts' });
const path = (page: Page) => new URL(page.url()).pathname;

const hasLayer = (page: Page) => page.evaluate(() => JSON.stringify(history.state).includes('layer'));

/** Waits until what covers the page has an entry in the history. */
const covered = (page: Page) => expect.poll(() => hasLayer(page)).toBe(true);

/** Waits until what covered the page is gone, and its entry with it. */
async function uncovered(page: Page): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => hasLayer(page)).toBe(false);
}

// ABLE-4
test('the bar at the bottom and the header lead to every part of the library', async () => {
  await mara.goto('/');
  await shortcuts(mara).waitFor();
  const places = async () =>
    (await shortcuts(mara).locator('a:visible, button:visible').allInnerTexts()).map((text) =>
      text.split('\n').at(-1)?.trim(),
    );
  await expect.poll(places).toEqual(['Feed', 'Search', 'New post', 'Notifications', 'Account']);
  for (const name of ['Assets', 'Collections', 'Teams', 'Tags']) {
    await mara.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).tap();
    await mara.getByRole('heading', { name, level: 1 }).waitFor();
    expect(await overhang(mara)).toBe(0);
  }
  await shortcuts(mara).getByRole('button', { name: 'Search' }).tap();
  const box = mara.getByRole('combobox', { name: 'Search the library' });
  await box.fill('harbour');
  await box.press('Enter');
  await mara.waitForURL('**/search?q=harbour');
  await shortcuts(mara)
    .getByRole('link', { name: /^Notifications/ })
    .tap();
  await mara.waitForURL('**/notifications');
  await shortcuts(mara).getByRole('link', { name: 'Feed' }).tap();
  await mara.getByRole('link', { name: /^Harbour/ }).waitFor();
});

// ABLE-5
test('going back closes the viewer, a dialog and a selection before it leaves the page', async () => {
  await visit(mara, '/assets');
  await visit(mara, `/posts/${post}`);
  const fullScreen = mara.getByRole('button', { name: 'Full screen' });
  await fullScreen.tap();
  await covered(mara);
  await mara.goBack();
  await uncovered(mara);
  expect(path(mara)).toBe(`/posts/${post}`);

  // Closed otherwise, it leaves no entry behind.
  await fullScreen.tap();
  await covered(mara);
  await mara.getByRole('button', { name: 'Close' }).tap();
  await uncovered(mara);
  await mara.getByRole('button', { name: /^Save/ }).tap();
  await covered(mara);
  await mara.goBack();
  await uncovered(mara);
  await mara.getByRole('button', { name: /^Save/ }).tap();
  await covered(mara);
  await mara.getByRole('button', { name: 'Done' }).tap();
  await uncovered(mara);
  expect(path(mara)).toBe(`/posts/${post}`);
  await mara.goBack();
  await mara.waitForURL('**/assets');

  await mara.getByRole('button', { name: 'Select', exact: true }).tap();
  const bar = mara.getByRole('region', { name: 'Selection' });
  await bar.waitFor();
  await covered(mara);
  await mara.goBack();
  await bar.waitFor({ state: 'detached' });
  expect(path(mara)).toBe('/assets');
});

// ABLE-5
test('a page that was opened from a dialog leads back to the page below the dialog', async () => {
  await visit(mara, '/collections');
  await mara.getByRole('button', { name: 'New collection' }).tap();
  await covered(mara);
  await mara.getByRole('dialog').getByLabel('Name').fill('Ships');
  await mara.getByRole('dialog').getByRole('button', { name: 'Create' }).tap();
  await mara.getByRole('heading', { name: 'Ships', level: 1 }).waitFor();
  await mara.goBack();
  await mara.waitForURL('**/collections');
  await uncovered(mara);
});

// LINK-10
test('a link page shows several pictures a row', async () => {
  const { url } = await call(mara, 'POST', `/posts/${post}/links`, {});
  await visitor.goto(new URL(url).pathname);
  const tiles = visitor.getByRole('button', { name: /^Show / });
  await tiles.nth(11).waitFor();
  const rows = async () => {
    const tops = await tiles.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    return new Set(tops.map(Math.round)).size;
  };
  await expect.poll(rows).toBeLessThanOrEqual(6);
  expect(await overhang(visitor)).toBe(0);
});

// ABLE-3
test('Tab reaches one card of a grid, and arrow keys the others', async () => {
  await visit(mara, '/assets');
  const cards = mara.getByRole('list', { name: 'Assets' }).getByRole('link');
  await cards.nth(11).waitFor();
  await expect.poll(() => cards.evaluateAll((all) => all.filter((one) => one.tabIndex === 0).length)).toBe(1);
  await cards.first().focus();
  await mara.keyboard.press('ArrowRight');
  await expect.poll(() => isFocused(cards.nth(1))).toBe(true);
  await mara.keyboard.press('ArrowDown');
  await expect.poll(() => isFocused(cards.nth(3))).toBe(true);
  const stops = () => cards.evaluateAll((all) => all.flatMap((one, at) => (one.tabIndex === 0 ? [at] : [])));
  await expect.poll(stops).toEqual([3]);
});

// ABLE-6
test('switches stay visible with forced colours', async () => {
  await mara.emulateMedia({ forcedColors: 'active' });
  await visit(mara, '/settings/notifications');
  const control = mara.getByRole('switch').first();
  await control.waitFor();
  const look = await control.evaluate((one) => {
    const [thumb] = one.children;
    const { borderTopWidth, backgroundColor } = getComputedStyle(one);
    return { borderTopWidth, backgroundColor, thumb: thumb && getComputedStyle(thumb).backgroundColor };
  });
  expect(look.borderTopWidth).toBe('1px');
  expect(look.thumb).not.toBe(look.backgroundColor);
  await mara.emulateMedia({ forcedColors: 'none' });
});
