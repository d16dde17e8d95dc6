import { startSession } from '@vitrine/server/sessions';
import type { BrowserContext, CDPSession, Page, ViewportSize } from 'playwright-core';
import { openBrowser } from '../../server/test/support/browser.ts';
import { largeLibrary, OWNER } from './large-library.ts';
import { joinDatabase, spawnService } from './library.ts';

/** Processor time of the main thread of the page in milliseconds, and its kinds. */
interface Work {
  readonly all: number;
  readonly script: number;
  readonly style: number;
  readonly layout: number;
}

/** What the main thread of the page did while something happened. */
interface Measured {
  readonly frames: number;
  readonly seconds: number;
  readonly longestMs: number;
  readonly work: Work;
}

async function workUntilNow(session: CDPSession): Promise<Work> {
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (wanted: string) => (metrics.find(({ name }) => name === wanted)?.value ?? 0) * 1000;
  return {
    all: of('TaskDuration'),
    script: of('ScriptDuration'),
    style: of('RecalcStyleDuration'),
    layout: of('LayoutDuration'),
  };
}

/** Counts the frames while `act` runs, and measures the processor time of the main thread and its longest task. */
async function measure(page: Page, session: CDPSession, act: () => Promise<unknown>): Promise<Measured> {
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
  const before = await workUntilNow(session);
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
  const after = await workUntilNow(session);
  const work = {
    all: after.all - before.all,
    script: after.script - before.script,
    style: after.style - before.style,
    layout: after.layout - before.layout,
  };
  return { ...seen, work };
}

function tell(what: string, { frames, seconds, work, longestMs }: Measured): void {
  const [all, script, style, layout] = [work.all, work.script, work.style, work.layout].map((ms) =>
    (ms / frames).toFixed(1),
  );
  console.log(
    `  ${what}: ${(frames / seconds).toFixed(0)} frames a second; ${all} ms of processor time a frame, of which script ${script}, style ${style}, layout ${layout}; longest task ${longestMs.toFixed(0)} ms`,
  );
}

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
  const cdp = await context.newCDPSession(page);
  // Processor time of the thread instead of time by the clock.
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const told = async (what: string, act: () => Promise<unknown>) => tell(what, await measure(page, cdp, act));
  console.log(`${viewport.width} by ${viewport.height} pixels`);
  await told('scrolling the first assets', () => scroll(page, 120, 40));
  await told(`loading ${assets}`, () => load(page, assets));
  await jumpTo(page, 0.5);
  await told('scrolling', () => scroll(page, 240, 40));
  await told('scrolling a screen in each frame', () => scroll(page, 120, viewport.height));
  await told('selecting all that are loaded', () => page.keyboard.press('ControlOrMeta+A'));
  await jumpTo(page, 0.3);
  await told('scrolling all that are selected', () => scroll(page, 240, 40));
  const cards = await page.getByRole('list', { name: 'Assets' }).getByRole('listitem').count();
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  console.log(`  ${cards} cards, ${elements} elements`);
  await page.keyboard.press('Escape');
  await jumpTo(page, 0);
  await links.first().click({ modifiers: ['ControlOrMeta'] });
  await jumpTo(page, 0.9);
  await told('a range from the first to one of the last', () => links.last().click({ modifiers: ['Shift'] }));
  await told('another tile', () => links.nth(-2).click({ modifiers: ['ControlOrMeta'] }));
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
