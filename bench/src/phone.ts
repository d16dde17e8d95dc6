import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { openBrowser } from '../../server/test/support/browser.ts';
import { admin, call, callJson, openEmptyLibrary, signIn, uploadFile } from './empty-library.ts';
import { median } from './load.ts';
import { photograph } from './picture.ts';

const ROUNDS = 5;
const POSTS = 60;

/** A slow phone: 1.6 Mbit/s with 150 ms, and a processor four times slower than this one. */
const line = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
const SLOWER = 4;

/** The network counts as quiet after this time, in milliseconds. */
const QUIET = 1500;

/** What a visit cost: times in milliseconds, sizes in bytes of compressed bodies. */
interface Visit {
  picture: number;
  blocked: number;
  longest: number;
  shift: number;
  requests: number;
  scripts: number;
  scriptBytes: number;
  pictures: number;
}

/** The most scripts and kilobytes of scripts that a page may load, by the page. */
const budgets: Readonly<Record<string, { scripts: number; kilobytes: number } | undefined>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../web/budgets.json'), 'utf8'),
);

/** Returns the budget of a page in words; empty if it has none. */
function budgetOf(page: string): string {
  const budget = budgets[page];
  return budget === undefined ? '' : ` (at most ${budget.scripts} of ${budget.kilobytes} kB)`;
}

interface PageKind {
  name: string;
  path: string;
  signedIn: boolean;
}

/** Uploads a picture of a size that phones take. */
async function upload(base: string, cookie: string, seed: number): Promise<string> {
  const drawn = seed % 3 === 0 ? photograph(1200, 1600, seed) : photograph(1600, 1200, seed);
  const file = new Blob([new Uint8Array(await drawn)], { type: 'image/jpeg' });
  return uploadFile(base, cookie, file, `${seed}.jpg`, { sensitivity: 'public' });
}

/** Waits until every picture has its previews. */
async function untilRendered(base: string, cookie: string): Promise<void> {
  for (;;) {
    const list = await call(base, '/assets?limit=100', { headers: { cookie } });
    const { items }: { items: { processing_status?: string }[] } = JSON.parse(await list.text());
    if (items.every((item) => item.processing_status === 'ready')) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Fills the library and returns the pages to visit. */
async function fill(base: string, cookie: string): Promise<PageKind[]> {
  const posts: string[] = [];
  for (let at = 0; at < POSTS; at += 1) {
    const members = [{ asset_id: await upload(base, cookie, at) }];
    const post: { id: string } = await callJson(base, cookie, '/posts', {
      title: `Photograph ${at + 1}`,
      members,
    });
    posts.push(post.id);
  }
  await untilRendered(base, cookie);
  const link: { url: string } = await callJson(base, cookie, `/posts/${posts.at(-1)}/links`, {});
  return [
    { name: 'feed', path: '/', signedIn: true },
    { name: 'sign-in', path: '/sign-in', signedIn: false },
    { name: 'post', path: `/posts/${posts.at(-1)}`, signedIn: true },
    { name: 'link', path: new URL(link.url, base).pathname, signedIn: false },
  ];
}

/** Runs in the page before its own scripts: notes its first picture, long tasks and layout shifts. */
function observe(): void {
  const seen = { picture: 0, blocked: 0, longest: 0, shift: 0 };
  Object.assign(window, { seen });
  document.addEventListener(
    'load',
    ({ target }) => {
      const isPicture = target instanceof HTMLImageElement && target.currentSrc.includes('/api/v1/');
      if (isPicture && seen.picture === 0) seen.picture = performance.now();
    },
    true,
  );
  const watch = (type: string, note: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  watch('longtask', ({ duration }) => {
    seen.blocked += duration - 50;
    seen.longest = Math.max(seen.longest, duration);
  });
  watch('layout-shift', (entry) => {
    // TypeScript's DOM has no type for these entries.
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
    if (!hadRecentInput) seen.shift += value;
  });
}

async function openContext(
  browser: Browser,
  base: string,
  width: number,
  cookie: string,
): Promise<BrowserContext> {
  const viewport = width < 500 ? { width, height: 844 } : { width, height: 900 };
  const context = await browser.newContext({
    baseURL: base,
    viewport,
    isMobile: width < 500,
    hasTouch: width < 500,
  });
  const [name = '', value = ''] = cookie.split('=');
  if (cookie !== '') await context.addCookies([{ name, value, url: base }]);
  return context;
}

/** Opens a page with an empty cache and returns what it cost until the network was quiet. */
async function visit(
  browser: Browser,
  base: string,
  cookie: string,
  kind: PageKind,
  width: number,
): Promise<Visit> {
  const context = await openContext(browser, base, width, kind.signedIn ? cookie : '');
  try {
    const page = await context.newPage();
    await page.addInitScript(observe);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', line);
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    const cost = { requests: 0, scripts: 0, scriptBytes: 0, pictures: 0 };
    let touched = performance.now();
    const sizes: Promise<void>[] = [];
    page.on('request', (request) => {
      if (/^(data|blob):/.test(request.url())) return;
      touched = performance.now();
      cost.requests += 1;
      if (request.resourceType() === 'script') cost.scripts += 1;
      if (request.resourceType() === 'image') cost.pictures += 1;
    });
    page.on('requestfinished', (request) => {
      touched = performance.now();
      if (request.resourceType() === 'script')
        sizes.push(
          request.sizes().then(({ responseBodySize }) => {
            cost.scriptBytes += responseBodySize;
          }),
        );
    });
    await page.goto(kind.path, { waitUntil: 'load' });
    if (kind.name !== 'sign-in')
      await page.waitForFunction(() => document.querySelector('img[src*="/api/v1/"]'));
    while (performance.now() - touched < QUIET) await new Promise((resolve) => setTimeout(resolve, 100));
    await Promise.all(sizes);
    const seen = await page.evaluate(
      () => (window as unknown as { seen: Omit<Visit, keyof typeof cost> }).seen,
    );
    return { ...seen, ...cost };
  } finally {
    await context.close();
  }
}

/**
 * `bench phone`: visits the feed, sign-in, a post and a link as a slow phone does, at two widths, and prints medians of
 * five visits with a cold cache, with the budgets of `web/budgets.json`.
 */
export async function benchPhone(): Promise<void> {
  const library = await openEmptyLibrary();
  const browser = await openBrowser();
  try {
    const base = library.service.address;
    const cookie = await signIn(base, admin);
    const kinds = await fill(base, cookie);
    for (const kind of kinds) {
      for (const width of [390, 1440]) {
        const visits: Visit[] = [];
        for (let round = 0; round < ROUNDS; round += 1)
          visits.push(await visit(browser, base, cookie, kind, width));
        const of = (name: keyof Visit) => median(visits.map((one) => one[name]));
        console.log(
          `${kind.name} at ${width}: first picture ${of('picture').toFixed(0)} ms, ${of('scripts')} scripts of ${(of('scriptBytes') / 1024).toFixed(1)} kB${budgetOf(kind.name)}, ${of('requests')} requests (${of('pictures')} pictures), blocked ${of('blocked').toFixed(0)} ms, longest task ${of('longest').toFixed(0)} ms, layout shift ${of('shift').toFixed(4)}`,
        );
      }
    }
  } finally {
    await browser.close();
    await library.close();
  }
}
