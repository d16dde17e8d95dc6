import { startSession } from '@vitrine/server/sessions';
import type { CDPSession, Page } from 'playwright-core';
import { openBrowser } from '../../server/test/support/browser.ts';
import { largeLibrary, OWNER } from './large-library.ts';
import { joinDatabase, spawnService } from './library.ts';

/** What the main thread of the page did while something happened. */
interface Work {
  readonly frames: number;
  readonly seconds: number;
  readonly busyMs: number;
  readonly longestMs: number;
}

async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
}

/** Counts the frames while `act` runs, and measures the time that the main thread was busy and its longest task. */
async function measure(page: Page, session: CDPSession, act: () => Promise<unknown>): Promise<Work> {
  const before = await busyMs(session);
  await page.evaluate(() => {
    const state = { frames: 0, longest: 0, began: performance.now(), isOver: false };
    Object.assign(globalThis, { measured: state });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) state.longest = Math.max(state.longest, duration);
    }).observe({ type: 'longtask' });
    const count = () => {
      state.frames += 1;
      if (!state.isOver) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  await act();
  const seen = await page.evaluate(async () => {
    // The function above has set it.
    const state = (
      globalThis as unknown as {
        measured: { frames: number; longest: number; began: number; isOver: boolean };
      }
    ).measured;
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    state.isOver = true;
    return {
      frames: state.frames,
      longestMs: state.longest,
      seconds: (performance.now() - state.began) / 1000,
    };
  });
  return { ...seen, busyMs: (await busyMs(session)) - before };
}

const tell = (what: string, { frames, seconds, busyMs: busy, longestMs }: Work) =>
  console.log(
    `${what}: ${(frames / seconds).toFixed(0)} frames a second, main thread busy ${(busy / frames).toFixed(1)} ms a frame, longest task ${longestMs.toFixed(0)} ms`,
  );

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

/** Scrolls down until so many assets are loaded. */
async function load(page: Page, most: number): Promise<void> {
  await page.evaluate(async (wanted) => {
    const height = () => document.body.scrollHeight;
    const columns = 7;
    const tile = 200;
    while ((height() / tile) * columns < wanted) {
      const before = height();
      scrollTo({ top: before, behavior: 'instant' });
      while (height() === before) await new Promise(requestAnimationFrame);
    }
    scrollTo({ top: 0, behavior: 'instant' });
  }, most);
}

/**
 * `bench selection`: opens the page of 100,000 assets in Chromium, loads `assets` of them, and selects and scrolls. Prints
 * frames a second and what the main thread does for each, which also tells on a busy machine.
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
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({
      baseURL: service.address,
      viewport: { width: 1440, height: 900 },
    });
    await context.addCookies([{ name: 'user', value, url: service.address }]);
    const page = await context.newPage();
    await page.goto('/assets');
    const links = page.getByRole('list', { name: 'Assets' }).getByRole('link');
    await links.first().waitFor();
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable');
    tell('scrolling the first assets', await measure(page, cdp, () => scroll(page, 120, 40)));
    tell(`loading ${assets}`, await measure(page, cdp, () => load(page, assets)));
    tell('scrolling', await measure(page, cdp, () => scroll(page, 120, 40)));
    tell(
      'selecting all that are loaded',
      await measure(page, cdp, () => page.keyboard.press('ControlOrMeta+A')),
    );
    tell('scrolling all that are selected', await measure(page, cdp, () => scroll(page, 120, 40)));
    await page.keyboard.press('Escape');
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    await links.first().click({ modifiers: ['ControlOrMeta'] });
    await page.evaluate(() => scrollTo({ top: document.body.scrollHeight - 3000, behavior: 'instant' }));
    await page.evaluate(() => new Promise(requestAnimationFrame));
    tell(
      'a range from the first to one of the last',
      await measure(page, cdp, () => links.last().click({ modifiers: ['Shift'] })),
    );
    tell(
      'another tile',
      await measure(page, cdp, () => links.last().click({ modifiers: ['ControlOrMeta'] })),
    );
  } finally {
    await browser.close();
    await service.stop();
  }
}
