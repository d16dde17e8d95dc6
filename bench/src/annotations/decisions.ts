import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Spawned } from '../library.ts';
import { median } from '../load.ts';
import { processorSeconds, treeProcessorSeconds } from '../processor-time.ts';
import type { Account, Scene } from './library.ts';

const DECISIONS = 20;
const MOST_MS = 1000;

const choices = [
  { button: 'Approve', done: 'You approved it.', shown: '1 of 1 approved' },
  { button: 'Request changes', done: 'You requested changes.', shown: 'one asks for changes' },
] as const;

/** Opens a browser context in which an account is signed in. */
export async function contextOf(
  browser: Browser,
  base: string,
  { cookie }: Account,
): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1440, height: 900 } });
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url: base }]);
  return context;
}

/** Waits until an element contains a text. Returns the time of that, by the clock of the machine. */
async function timeOfText(page: Page, selector: string, text: string): Promise<number> {
  const at = await page.waitForFunction(
    ([place = '', wanted = '']) =>
      document.querySelector(place)?.textContent?.includes(wanted) === true ? Date.now() : 0,
    [selector, text],
  );
  return at.jsonValue();
}

/** Presses a button for a decision and returns the time of that, by the clock of the machine. */
async function press(page: Page, name: string): Promise<number> {
  const decision = page.getByRole('region', { name: 'Your decision' });
  return decision.getByRole('button', { name, exact: true }).evaluate((button) => {
    if (!(button instanceof HTMLElement)) throw new Error('there is no button');
    const at = Date.now();
    button.click();
    return at;
  });
}

/** Opens a page and waits until its stream of events is open. */
async function openLive(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  const opened = page.waitForResponse((response) => response.url().includes('/events?post='));
  await page.goto(path);
  await opened;
  return page;
}

/**
 * Measures the time from the press of a button by the reviewer until two open pages of the author show the decision: the
 * review and the post.
 */
export async function benchDecisions(
  { base, author, reviewer, review }: Scene,
  browser: Browser,
  { child }: Spawned,
): Promise<void> {
  const contexts = [
    await contextOf(browser, base, author),
    await contextOf(browser, base, reviewer),
  ] as const;
  const [ana, ben] = contexts;
  const pages = [
    { name: 'the review', selector: '#decisions', times: [] as number[] },
    { name: 'the post', selector: 'ul[aria-label="Reviews"]', times: [] as number[] },
  ];
  const open = [await openLive(ana, `/reviews/${review.id}`), await openLive(ana, `/posts/${review.post}`)];
  const deciding = await openLive(ben, `/reviews/${review.id}`);
  const pid = child.pid ?? 0;
  const used = async () => ({ service: await processorSeconds(pid), all: await treeProcessorSeconds(pid) });
  let before = await used();
  for (let at = -2; at < DECISIONS; at += 1) {
    if (at === 0) before = await used();
    const { button, done, shown } = choices[at & 1] ?? choices[0];
    const seen = open.map((page, index) => timeOfText(page, pages[index]?.selector ?? '', shown));
    const pressed = await press(deciding, button);
    const times = await Promise.all(seen);
    await deciding.getByText(done).waitFor();
    // The first ones fill caches.
    if (at < 0) continue;
    for (const [index, time] of times.entries()) pages[index]?.times.push(time - pressed);
  }
  const after = await used();
  for (const { name, times } of pages)
    console.log(
      `  ${name}: median ${median(times)} ms, longest ${Math.max(...times)} ms of ${times.length} decisions (at most ${MOST_MS} ms)`,
    );
  const service = ((after.service - before.service) * 1000) / DECISIONS;
  const database = ((after.all - before.all) * 1000) / DECISIONS - service;
  console.log(
    `  processor time of a decision, including the requests of the three open pages: service ${service.toFixed(0)} ms, database ${database.toFixed(0)} ms`,
  );
  for (const context of contexts) await context.close();
}
