import { startSession } from '@vitrine/server/sessions';
import type { BrowserContext, Page, ViewportSize } from 'playwright-core';
import { openBrowser } from '../../server/test/support/browser.ts';
import { largeLibrary, OWNER } from './large-library.ts';
import { joinDatabase, spawnService } from './library.ts';
import { measureFrames, openPageWork, printFrames } from './page-work.ts';

/** Scrolls by some pixels in each frame, for so many frames. */
const scroll = (page: Page, frames: number, pixels: number) =>
  page.evaluate(
    async ([count = 0, step = 0]) => {
      for (let at = 0; at < count; at += 1) {
        scrollBy({ top: step, behavior: 'instant' });
        await new Promise(requestAnimationFrame);
      }
    },
    [frames, pixels],
  );

const jumpTo = async (page: Page, share: number) => {
  await page.evaluate((to) => scrollTo({ top: document.body.scrollHeight * to, behavior: 'instant' }), share);
  await page.waitForTimeout(1000);
};

/** Scrolls down until so many assets are loaded. */
async function load(page: Page, most: number): Promise<void> {
  await page.evaluate(async (wanted) => {
    const last = () =>
      Math.max(...[...document.querySelectorAll('[aria-posinset]')].map((item) => Number(item.ariaPosInSet)));
    for (;;) {
      scrollTo({ top: document.body.scrollHeight, behavior: 'instant' });
      await new Promise(requestAnimationFrame);
      if (last() >= wanted) return;
    }
  }, most);
}

/** Measures the page in a window of this size, with so many assets loaded. */
async function measurePage(context: BrowserContext, viewport: ViewportSize, assets: number) {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  await page.goto('/assets');
  const links = page.getByRole('list', { name: 'Assets' }).getByRole('link');
  await links.first().waitFor();
  const session = await openPageWork(page);
  const print = async (what: string, act: () => Promise<unknown>) =>
    printFrames(what, await measureFrames(page, session, act));
  console.log(`${viewport.width} by ${viewport.height} pixels`);
  await print('scrolling the first assets', () => scroll(page, 120, 40));
  await print(`loading ${assets}`, () => load(page, assets));
  await jumpTo(page, 0.5);
  await print('scrolling', () => scroll(page, 240, 40));
  await print('scrolling a screen in each frame', () => scroll(page, 120, viewport.height));
  await print('selecting all that are loaded', () => page.keyboard.press('ControlOrMeta+A'));
  await jumpTo(page, 0.3);
  await print('scrolling all that are selected', () => scroll(page, 240, 40));
  const cards = await page.getByRole('list', { name: 'Assets' }).getByRole('listitem').count();
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  console.log(`  ${cards} cards, ${elements} elements`);
  await page.keyboard.press('Escape');
  await jumpTo(page, 0);
  await links.first().click({ modifiers: ['ControlOrMeta'] });
  await jumpTo(page, 0.9);
  await print('a range from the first to one of the last', () =>
    links.last().click({ modifiers: ['Shift'] }),
  );
  await print('another tile', () => links.nth(-2).click({ modifiers: ['ControlOrMeta'] }));
  await page.close();
}

/**
 * `bench selection`: opens the page of 100,000 assets in Chromium, loads `assets` of them, and selects and scrolls, in the
 * window of a desktop and of a phone. Prints the processor time of the page's main thread for each frame, which a busy machine
 * changes less than the time by the clock.
 */
export async function benchSelection(assets: number): Promise<void> {
  const directory = await largeLibrary();
  const service = await spawnService(directory);
  const database = joinDatabase(directory);
  const session = { userRef: OWNER, days: 1, address: '', userAgent: 'bench' };
  const { token: value } = await startSession(database.db, session);
  // A library without an administrator shows the page of its first start.
  await database.pool.query(
    `update users set role_id = '00000000-0000-4000-8000-000000000101', password_hash = 'none' where ref = 1`,
  );
  await database.close();
  const browser = await openBrowser({ compiles: true });
  try {
    const context = await browser.newContext({ baseURL: service.address });
    await context.addCookies([{ name: 'user', value, url: service.address }]);
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ])
      await measurePage(context, viewport, assets);
  } finally {
    await browser.close();
    await service.stop();
  }
}
