import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { jpeg, plainText } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { beyondEdge, overhang, showMore, visit } from './hands.ts';
import { openStudio } from './studio.ts';

/** Pages with text of 200 %, with a zoom of 400 %, without motion and with forced colours. */

const usual = { name: 'the usual size', standard: 16, width: 1280, height: 900 };
/**
 * A zoom of 400 % makes a window of 1280 × 1024 pixels this small. A larger default size of text also moves the
 * breakpoints, which are in rem; a font size of `html` would not.
 */
const zoomed = { name: 'a zoom of 400 %', standard: 16, width: 320, height: 256 };
const screens = [
  { name: 'text of 200 % on a phone', standard: 32, width: 390, height: 844 },
  { name: 'text of 200 % on a desktop', standard: 32, width: 1440, height: 900 },
  zoomed,
];

const studio = await openStudio();
const mara = await studio.enter('mara');
const cdp = await mara.context().newCDPSession(mara);

const [pier, note] = await Promise.all([
  uploadReady(mara, await jpeg(60, 40), { title: 'The pier at the harbour', tags: 'harbour,photography' }),
  uploadReady(mara, plainText(), { title: 'Note' }, 'note.txt'),
  uploadReady(mara, await jpeg(40, 60, { seed: 2 }), { title: 'Quay', tags: 'harbour' }),
]);
const { id: team } = await call(mara, 'POST', '/teams', {
  name: 'Photographers',
  description: 'At the quay',
});
const words = { description: 'At the pier #harbour', tags: ['harbour'], team_id: team };
const post = await publish(mara, 'Harbour in the morning', [pier, note], words);
await call(mara, 'POST', `/posts/${post}/comments`, { body: 'Extraordinary light!' });
await call(mara, 'PUT', '/tags/harbour/follow');
const { id: collection } = await call(mara, 'POST', '/collections', { name: 'Coasts' });
await call(mara, 'PUT', `/collections/${collection}/posts/${post}`);
await call(mara, 'POST', '/fields', { code: 'berth', label: 'Berth', type: 'text' });
await call(mara, 'POST', '/auth/tokens', { name: 'Export', scopes: ['read'] });
await call(mara, 'POST', '/admin/invitations', { role: 'member' });

/** The page that asks before it is left comes last. */
const paths = [
  '/',
  '/assets',
  `/assets/${pier}`,
  `/posts/${post}`,
  '/search?q=harbour',
  '/collections',
  `/collections/${collection}`,
  '/teams',
  `/teams/${team}`,
  '/tags',
  '/notifications',
  '/reviews',
  '/timeline',
  '/users/mara',
  '/settings/profile',
  '/settings/preferences',
  '/settings/notifications',
  '/settings/security',
  '/settings/tokens',
  '/admin/users',
  '/admin/invitations',
  '/admin/roles',
  '/admin/fields',
  '/admin/site',
  '/admin/mail',
  '/admin/audit',
  '/admin/jobs',
  '/admin/storage',
  '/new',
];

/** Changes the default size of text and the window. */
async function show({ standard, width, height }: (typeof screens)[number]): Promise<void> {
  await cdp.send('Page.setFontSizes', { fontSizes: { standard, fixed: standard } });
  await mara.setViewportSize({ width, height });
  await expect.poll(() => mara.evaluate(() => innerWidth)).toBe(width);
}

/** Waits until the page has its heading and all that it loads. */
async function loaded(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  const pending = page.locator('main').locator('.animate-pulse, [role=status][aria-label^=Loading]');
  await expect.poll(() => pending.count(), { message: page.url(), timeout: 15_000 }).toBe(0);
}

/** Returns the heading and the buttons of the page that something covers, or that the window cuts off, when scrolled to. */
function unreachable(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll('main h1, main button:not([role=checkbox]):not(:disabled)')];
    const found = all.flatMap((one) => {
      if (!one.checkVisibility({ visibilityProperty: true })) return [];
      one.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      const { left, top, width, height } = one.getBoundingClientRect();
      if (width <= 1) return [];
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      return hit !== null && (one.contains(hit) || hit.contains(one)) ? [] : [one.outerHTML.slice(0, 120)];
    });
    scrollTo({ top: 0, behavior: 'instant' });
    return found;
  });
}

// ABLE-7
test('large text and a zoom of 400 % make no page wider than its window, and nothing is out of reach', async () => {
  const seen: string[] = [];
  for (const [at, path] of paths.entries()) {
    await visit(mara, path);
    await loaded(mara);
    // Each page begins with the screen on which the one before it ended.
    for (const screen of at % 2 === 0 ? screens : screens.toReversed()) {
      await show(screen);
      const wrong = async () => [
        ...((await overhang(mara)) > 0 ? [`too wide because of ${await beyondEdge(mara)}`] : []),
        ...(await unreachable(mara)),
      ];
      let found = await wrong();
      if (found.length > 0) {
        // Rows of pictures are laid out again shortly after the width of the window changes.
        await vi.waitUntil(async () => (await wrong()).length === 0, { timeout: 5000 }).catch(() => {});
        found = await wrong();
      }
      seen.push(...found.map((element) => `${path} with ${screen.name}: ${element}`));
    }
  }
  expect(seen).toEqual([]);
});

// ABLE-7
test('menus fit into the window with large text and a zoom of 400 %', async () => {
  await mara.goto('/assets');
  await loaded(mara);
  const menu = mara.getByRole('menu');
  for (const screen of screens) {
    await show(screen);
    await mara.getByRole('button', { name: 'More', exact: true }).click();
    const isInside = () =>
      menu.evaluate((one) => {
        const { left, top, right, bottom } = one.getBoundingClientRect();
        return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
      });
    await expect.poll(isInside, { message: screen.name }).toBe(true);
    await mara.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
  }
});

// ABLE-7
test('the panel of rare actions fits into a narrow window each time it opens, and when the window narrows', async () => {
  await show(zoomed);
  await visit(mara, `/assets/${pier}`);
  await loaded(mara);
  const actions = mara.getByRole('group', { name: 'More', exact: true });
  for (const time of ['first', 'second']) {
    await showMore(mara);
    expect(await overhang(mara), `the ${time} time`).toBe(0);
    await mara.keyboard.press('Escape');
    await actions.waitFor({ state: 'hidden' });
  }
  await show({ ...zoomed, width: 1440 });
  await showMore(mara);
  // The button moves from the end of its line to the start of another one.
  await show({ ...zoomed, width: 700 });
  const isInside = () =>
    actions.evaluate((one) => {
      const { left, right } = one.getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    });
  await expect.poll(isInside, { timeout: 5000 }).toBe(true);
});

/**
 * Records what moves for longer than 10 ms until a dialog has been open for a while. Start it before the click, and await
 * it afterwards.
 */
function movements(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const found = new Set<string>();
    const deadline = Date.now() + 20_000;
    for (let open = 0; open < 20 && Date.now() < deadline; ) {
      for (const one of document.getAnimations()) {
        const { endTime } = one.effect?.getComputedTiming() ?? {};
        if (Number(endTime) > 10) found.add(`${one.constructor.name} of ${endTime} ms`);
      }
      if (document.querySelector('[role=dialog]') !== null) open += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return [...found];
  });
}

// ABLE-8
test('with reduced motion nothing moves while a dialog opens', async () => {
  await show(usual);
  await mara.emulateMedia({ reducedMotion: 'reduce' });
  await visit(mara, '/collections');
  const opener = mara.getByRole('button', { name: 'New collection' });
  await opener.waitFor();
  const watched = movements(mara);
  await opener.click();
  await mara.getByRole('dialog').waitFor();
  expect(await watched).toEqual([]);
  await mara.keyboard.press('Escape');
});

/** Returns the colours, without their opacity, and the borders of an element and of all inside it. */
function looks(locator: Locator): Promise<string> {
  return locator.evaluate((root) => {
    const all = [root, ...root.querySelectorAll('*')].map((one) => {
      const { backgroundColor, borderTopColor, borderTopWidth, visibility } = getComputedStyle(one);
      const border = borderTopWidth === '0px' ? 'none' : `${borderTopWidth} ${borderTopColor}`;
      return `${backgroundColor} ${border} ${visibility}`;
    });
    return all.join(', ').replaceAll(/rgba?\((\d+, \d+, \d+)[^)]*\)/g, '$1');
  });
}

/** Switches it on or off, and returns how it looked before and after. */
async function looksOfBoth(control: Locator): Promise<string[]> {
  await control.waitFor();
  const [was, before] = [await control.getAttribute('aria-checked'), await looks(control)];
  await control.click();
  await expect.poll(() => control.getAttribute('aria-checked')).not.toBe(was);
  return [before, await looks(control)];
}

// ABLE-6
test('with forced colours, switches, check marks and chosen cards look different when they are on', async () => {
  await show(usual);
  await mara.emulateMedia({ forcedColors: 'active' });
  await visit(mara, '/assets');
  await mara.getByRole('button', { name: 'Select', exact: true }).click();
  await mara.getByRole('region', { name: 'Selection' }).waitFor();
  const cards = mara.getByRole('list', { name: 'Assets' }).getByRole('listitem');
  const card = cards.filter({ has: mara.getByRole('checkbox', { name: 'Select Quay' }) });
  const [notChosen, chosen] = await looksOfBoth(card.getByRole('checkbox'));
  expect(chosen).not.toBe(notChosen);
  const frame = card.locator('span[aria-hidden=true].border-accent');
  const colours = await frame.evaluate((one) => {
    const { borderTopColor, borderTopWidth } = getComputedStyle(one);
    return { borderTopWidth, isSeen: borderTopColor !== getComputedStyle(document.body).backgroundColor };
  });
  expect(colours).toEqual({ borderTopWidth: '4px', isSeen: true });

  await visit(mara, '/settings/notifications');
  const [one, other] = await looksOfBoth(mara.locator('[role=switch]:enabled').first());
  expect(other).not.toBe(one);
});
