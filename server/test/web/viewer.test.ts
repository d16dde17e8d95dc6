import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { naturalWidth, overhang } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
let studio: Studio;
let mara: Page;
let first: string;
let second: string;

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  const comic = await uploadReady(mara, await jpeg(700, 4200), { title: 'Comic' });
  const alpha = await uploadReady(mara, await jpeg(2400, 1600), { title: 'Alpha' });
  const bravo = await uploadReady(mara, await jpeg(600, 400, { seed: 2 }), { title: 'Bravo' });
  const publish = async (title: string, ids: string[]) => {
    const members = ids.map((asset_id) => ({ asset_id }));
    return (await call(mara, 'POST', '/posts', { title, members })).id;
  };
  second = await publish('Strip', [comic]);
  first = await publish('Harbour', [alpha, bravo]);
});

afterAll(() => studio?.close());

const viewer = (page: Page) => page.getByRole('dialog');
const title = (page: Page) => viewer(page).getByRole('heading').first();
const fullScreen = (page: Page) => page.getByRole('button', { name: 'Full screen' });

/** How large the picture is shown, in percent. */
async function percent(page: Page): Promise<number> {
  const text = await viewer(page)
    .getByText(/^\d+%$/)
    .textContent();
  return Number(text?.replace('%', ''));
}

test('a post is opened from the feed in full screen, zoomed by keys, and left where one was', async () => {
  await mara.goto('/');
  await mara.getByRole('link', { name: /^Harbour/ }).click();
  await fullScreen(mara).click();
  await title(mara).getByText('Alpha').waitFor();
  await expect.poll(() => percent(mara)).toBeLessThan(60);
  const whole = await percent(mara);
  await mara.keyboard.press('+');
  await expect.poll(() => percent(mara)).toBe(Math.round(whole * 1.5));
  await mara.keyboard.press('1');
  await expect.poll(() => percent(mara)).toBe(100);
  for (let times = 0; times < 8; times += 1) await mara.keyboard.press('+');
  await expect.poll(() => percent(mara)).toBe(800);
  await mara.keyboard.press('0');
  await expect.poll(() => percent(mara)).toBe(whole);

  await mara.keyboard.press('ArrowRight');
  await title(mara).getByText('Bravo').waitFor();
  // A small picture is not enlarged.
  await expect.poll(() => percent(mara)).toBe(100);
  await mara.keyboard.press('ArrowLeft');
  await title(mara).getByText('Alpha').waitFor();
  await mara.keyboard.press('End');
  await title(mara).getByText('Comic').waitFor();
  const page = viewer(mara).getByRole('region', { name: 'Comic, to scroll through' });
  await expect.poll(() => naturalWidth(page.getByRole('img'))).toBe(700);
  await mara.keyboard.press('ArrowDown');
  await expect.poll(() => page.evaluate((one) => one.scrollTop)).toBeGreaterThan(50);

  await mara.keyboard.press('Escape');
  await mara.waitForURL(`**/posts/${second}`);
  await mara.goBack();
  await mara.getByRole('link', { name: /^Harbour/ }).waitFor();
});

test('the question mark shows the shortcuts, and Escape closes one thing at a time', async () => {
  await mara.goto(`/posts/${first}`);
  await fullScreen(mara).click();
  await title(mara).getByText('Alpha').waitFor();
  await mara.keyboard.press('?');
  const shortcuts = viewer(mara).getByRole('region', { name: 'Keyboard shortcuts' });
  await shortcuts.getByText('One pixel for one pixel').waitFor();
  await mara.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  await viewer(mara).waitFor();
  await mara.keyboard.press('Escape');
  await viewer(mara).waitFor({ state: 'detached' });
  expect(await fullScreen(mara).evaluate((one) => one === document.activeElement)).toBe(true);
});

test('the files of the library follow each other, and the page is of the last one seen', async () => {
  await mara.goto('/assets');
  await mara.getByRole('link', { name: /^Bravo/ }).click();
  await fullScreen(mara).click();
  await title(mara).getByText('Bravo').waitFor();
  await viewer(mara).getByRole('button', { name: 'Next' }).click();
  await title(mara).getByText('Alpha').waitFor();
  await viewer(mara).getByRole('button', { name: 'Close' }).click();
  await mara.getByRole('heading', { name: 'Alpha', level: 1 }).waitFor();
});

test('on a phone a swipe turns to the next picture, and the page is no wider than the window', async () => {
  const page = await studio.enter('mara', phone);
  await page.goto(`/posts/${first}`);
  await fullScreen(page).click();
  await title(page).getByText('Alpha').waitFor();
  const finger = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
    finger.send('Input.dispatchTouchEvent', { type, touchPoints: x === undefined ? [] : [{ x, y: 420 }] });
  await viewer(page).getByRole('img', { name: 'Alpha' }).locator('canvas').first().waitFor();
  await touch('touchStart', 320);
  for (const x of [250, 180, 90]) await touch('touchMove', x);
  await touch('touchEnd');
  await title(page).getByText('Bravo').waitFor();
  expect(await overhang(page)).toBe(0);
  await page.context().close();
  expect(studio.faults).toEqual([]);
});
