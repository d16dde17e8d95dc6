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

// PREFERENCE-8, PREFERENCE-9
test('files of a collection, and pages for visitors, follow the layout of the browser', async () => {
  await call(desk, 'PUT', '/system/public-mode', { enabled: true });
  const shelf = (await call(desk, 'POST', '/collections', { name: 'Shelf', visibility: 'public' })).id;
  for (const file of [wide, tall]) {
    await call(desk, 'PATCH', `/assets/${file}`, { sensitivity: 'public' });
    await call(desk, 'PUT', `/collections/${shelf}/assets/${file}`);
  }
  const { url } = await call(desk, 'POST', `/collections/${shelf}/links`, {});
  const visitor = await studio.openPage(phone);
  const sizes = async (name: string | RegExp) => {
    const items = visitor
      .getByRole(typeof name === 'string' ? 'list' : 'region', { name })
      .getByRole('listitem');
    await items.nth(1).waitFor();
    return items.evaluateAll((all) =>
      all.map((one) => {
        const { width, height } = one.getBoundingClientRect();
        return { width: Math.round(width), height: Math.round(height) };
      }),
    );
  };
  const choose = (layout: string) => visitor.getByLabel('Layout', { exact: true }).selectOption(layout);
  const files = () => sizes('Items of this collection');
  await visitor.goto(`/collections/${shelf}`);
  await expect.poll(files).toSatisfy((all) => all.every(({ width }: { width: number }) => width > 350));
  await choose('thumbnail');
  await expect.poll(files).toSatisfy((all) => all.every(isSquare) && all[0].width < 130);
  expect(await overhang(visitor)).toBe(0);

  await visitor.reload();
  await expect.poll(files).toSatisfy((all) => all.every(isSquare) && all[0].width < 130);
  await visitor.goto(new URL(url).pathname);
  const linked = () => sizes(/^Shelf$/);
  await expect.poll(linked).toSatisfy((all) => all.every(isSquare) && all[0].width < 130);
  await choose('list');
  await expect.poll(linked).toSatisfy((all) => all.every(({ height }: { height: number }) => height <= 200));
  expect(await overhang(visitor)).toBe(0);
});
