import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { isFocused, overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const desk = await studio.enter('mara', { viewport: { width: 1440, height: 900 } });
const mobile = await studio.enter('mara', phone);
const [wide, tall] = await Promise.all([
  jpeg(600, 400).then((bytes) => uploadReady(desk, bytes)),
  jpeg(400, 600, { seed: 2 }).then((bytes) => uploadReady(desk, bytes)),
]);
const team = (await call(desk, 'POST', '/teams', { name: 'Dockers' })).id;
const collection = (await call(desk, 'POST', '/collections', { name: 'Coasts' })).id;
for (let at = 1; at <= 8; at += 1) {
  const words = { tags: ['pier'], team_id: team, visibility: 'org-only' as const };
  const post = await publish(desk, `Pier ${at}`, [at % 2 === 0 ? wide : tall], words);
  await call(desk, 'PUT', `/collections/${collection}/posts/${post}`);
}

const cards = (page: Page) => page.getByRole('list', { name: 'Posts' }).locator('[data-tile]');

/** Returns the size and the left edge of each card near the window. */
async function boxes(page: Page) {
  await cards(page).nth(1).waitFor();
  return cards(page).evaluateAll((all) =>
    all.map((one) => {
      const { left, width, height } = one.getBoundingClientRect();
      return { left: Math.round(left), width: Math.round(width), height: Math.round(height) };
    }),
  );
}

const isSquare = ({ width, height }: { width: number; height: number }) => width === height;
const distinct = (values: readonly number[]) => new Set(values).size;

/** Waits until the cards look like this. */
const shows = (page: Page, fits: (all: Awaited<ReturnType<typeof boxes>>) => boolean) =>
  expect.poll(async () => fits(await boxes(page))).toBe(true);

// PREFERENCE-8
test('the layout that a reader chooses in the feed arranges all lists of posts', async () => {
  await desk.goto('/');
  await shows(desk, (all) => all.every(isSquare) && all[0] !== undefined && all[0].width >= 240);
  await desk.getByRole('button', { name: 'Views' }).click();
  const choose = (name: string) => desk.getByRole('menuitemradio', { name, exact: true }).click();
  await choose('Thumbnails');
  await shows(desk, (all) => all.every(isSquare) && all.every(({ width }) => width < 200));
  await choose('Masonry');
  await shows(
    desk,
    (all) =>
      distinct(all.map(({ width }) => width)) === 1 &&
      distinct(all.map(({ height }) => height)) === 2 &&
      distinct(all.map(({ left }) => left)) > 2,
  );
  await choose('One below the other');
  await shows(
    desk,
    (all) => all.every(({ width }) => width >= 400) && distinct(all.map(({ left }) => left)) === 1,
  );
  await choose('List');
  const isList = (all: Awaited<ReturnType<typeof boxes>>) =>
    all.every(({ width, height }) => width > 1000 && height <= 200);
  await shows(desk, isList);

  const stored = async () => (await call(desk, 'GET', '/account/preferences')).default_views.layout;
  await expect.poll(stored).toBe('list');
  for (const [path, name] of [
    ['/users/mara', 'mara'],
    [`/teams/${team}`, 'Dockers'],
    ['/tags/pier', 'pier'],
    [`/collections/${collection}`, 'Coasts'],
  ] as const) {
    await visit(desk, path);
    await desk.getByRole('heading', { name, level: 1 }).waitFor();
    await shows(desk, isList);
  }

  const select = desk.getByLabel('Layout', { exact: true });
  await select.selectOption('grid');
  await shows(desk, (all) => all.every(isSquare));
  await expect.poll(stored).toBe('grid');

  // ABLE-3
  const links = desk.getByRole('list', { name: 'Posts' }).locator('[data-post]');
  await links.first().focus();
  await desk.keyboard.press('ArrowRight');
  await expect.poll(() => isFocused(links.nth(1))).toBe(true);
});

// PREFERENCE-8
test('without a choice, a touch screen shows one column', async () => {
  await call(mobile, 'PATCH', '/account/preferences', {
    default_views: { feed: '', layout: '', sort: '' },
  });
  await mobile.goto('/');
  await mobile.getByRole('link', { name: /^Pier 8/ }).waitFor();
  await expect
    .poll(() =>
      cards(mobile)
        .first()
        .evaluate((one) => one.getBoundingClientRect().width),
    )
    .toBeGreaterThan(350);
  expect(await overhang(mobile)).toBe(0);
});
