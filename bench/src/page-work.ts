import type { CDPSession, Page } from 'playwright-core';

/** Processor time of the main thread of the page in milliseconds, and its kinds. */
interface Work {
  readonly all: number;
  readonly script: number;
  readonly style: number;
  readonly layout: number;
}

/** What the main thread of a page did while something happened. */
export interface Measured {
  readonly frames: number;
  readonly seconds: number;
  readonly longestMs: number;
  readonly work: Work;
}

/** Opens a session that reads the processor time of the page's main thread instead of time by the clock. */
export async function openPageWork(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return session;
}

/** Returns the processor time that the page's main thread has used since it was opened. */
export async function workUntilNow(session: CDPSession): Promise<Work> {
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
export async function measureFrames(
  page: Page,
  session: CDPSession,
  act: () => Promise<unknown>,
): Promise<Measured> {
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

/** Prints frames a second and the processor time of a frame. */
export function printFrames(what: string, { frames, seconds, work, longestMs }: Measured): void {
  const [all, script, style, layout] = [work.all, work.script, work.style, work.layout].map((ms) =>
    (ms / frames).toFixed(1),
  );
  console.log(
    `  ${what}: ${(frames / seconds).toFixed(0)} frames a second; ${all} ms of processor time a frame, of which script ${script}, style ${style}, layout ${layout}; longest task ${longestMs.toFixed(0)} ms`,
  );
}
