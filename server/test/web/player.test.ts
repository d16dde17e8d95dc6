import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { clip } from '../media/clips.ts';
import { animatedGif, jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { naturalWidth, overhang } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';
import { fullScreen, percent, phone, playableVideo, titleOf, viewer, zoomLabel } from './viewing.ts';

const subtitles = '1\n00:00:00,000 --> 00:00:30,000\nHigh water\n';

let studio: Studio;
let mara: Page;
/** A film that Chromium plays, with subtitles. */
let tide: string;
/** A film in MPEG-2, which no browser plays. */
let reel: string;
/** A picture with more pixels than its ladder, and a small one. */
let coast: string;
let buoy: string;
let post: string;

async function transcoded(id: string): Promise<void> {
  await vi.waitFor(
    async () => expect((await call(mara, 'GET', `/assets/${id}/media`)).transcoding?.state).toBe('done'),
    { timeout: 60_000, interval: 200 },
  );
}

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  const mpeg2 = await clip({ format: 'mpeg', video: { encoder: 'mpeg2video' }, seconds: 2 });
  tide = await uploadReady(mara, await playableVideo(), { title: 'Tide' }, 'tide.webm');
  reel = await uploadReady(mara, mpeg2, { title: 'Reel' }, 'reel.mpg');
  coast = await uploadReady(mara, await jpeg(6000, 1000), { title: 'Coast' });
  buoy = await uploadReady(mara, await jpeg(600, 400, { seed: 2 }), { title: 'Buoy' });
  const put = await mara.request.put(`/api/v1/assets/${tide}/subtitles/en`, {
    multipart: {
      label: 'English',
      file: { name: 'tide.srt', mimeType: 'text/plain', buffer: Buffer.from(subtitles) },
    },
  });
  expect(put.status(), await put.text()).toBe(201);
  const members = [tide, coast, buoy].map((asset_id) => ({ asset_id }));
  post = (await call(mara, 'POST', '/posts', { title: 'Shore', members })).id;
}, 240_000);

afterAll(() => studio?.close());

const player = (page: Page, name: string) => page.getByRole('group', { name: `Player of ${name}` });

/** The state of a video element, and the subtitles that it shows. */
function stateOf(within: Locator) {
  return within.locator('video').evaluate((one) => {
    if (!(one instanceof HTMLVideoElement)) throw new Error('it is no video');
    const [shown] = [...one.textTracks].filter(({ mode }) => mode === 'showing');
    const [cue] = shown?.activeCues ?? [];
    return {
      time: one.currentTime,
      paused: one.paused,
      rate: one.playbackRate,
      inline: one.playsInline,
      width: one.videoWidth,
      cue: cue instanceof VTTCue ? cue.text : null,
    };
  });
}
const timeOf = async (within: Locator) => (await stateOf(within)).time;

test('plays a video on its page with subtitles, speed and single frames, and continues in full screen', async () => {
  await mara.goto(`/assets/${tide}`);
  const film = player(mara, 'Tide');
  await film.getByText('0:00 / 0:16').waitFor();
  await film.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => timeOf(film)).toBeGreaterThan(0.2);
  expect(await viewer(mara).count()).toBe(0);
  await film.getByLabel('Subtitles').selectOption('English');
  await expect.poll(async () => (await stateOf(film)).cue).toBe('High water');
  await film.getByLabel('Speed').selectOption('2×');
  expect(await stateOf(film)).toMatchObject({ rate: 2, inline: true, paused: false });

  // Keys work while the player has the focus.
  await film.getByRole('button', { name: 'Pause' }).focus();
  await mara.keyboard.press('l');
  await expect.poll(() => timeOf(film)).toBeGreaterThan(10);
  await mara.keyboard.press('k');
  await film.getByRole('button', { name: 'Play' }).waitFor();
  const before = await timeOf(film);
  await mara.keyboard.press(',');
  await expect.poll(() => timeOf(film)).toBeCloseTo(before - 0.04, 2);
  const canFloat = await mara.evaluate(() => document.pictureInPictureEnabled);
  expect(await film.getByRole('button', { name: 'Picture in picture' }).count()).toBe(canFloat ? 1 : 0);

  await mara.reload();
  await expect.poll(() => timeOf(film)).toBeCloseTo(before - 0.04, 0);
  await film.getByRole('button', { name: 'Play' }).click();
  await film.getByRole('button', { name: 'Pause' }).waitFor();
  await fullScreen(mara).click();
  await expect.poll(async () => (await stateOf(viewer(mara))).paused).toBe(false);
  expect(await timeOf(viewer(mara))).toBeGreaterThan(9);
  await mara.keyboard.press('?');
  const shortcuts = viewer(mara).getByRole('region', { name: 'Keyboard shortcuts' });
  await shortcuts.getByText('One frame back and forward').waitFor();
  await shortcuts.getByText('Picture in picture').waitFor();
});

test('streams a video that browsers cannot play', async () => {
  await transcoded(reel);
  const asked: string[] = [];
  mara.on('request', (request) => asked.push(request.url()));
  await mara.goto(`/assets/${reel}`);
  const film = player(mara, 'Reel');
  await expect.poll(async () => (await stateOf(film)).width).toBe(320);
  await film.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => timeOf(film)).toBeGreaterThan(0.3);
  expect(asked.filter((url) => url.includes(`/assets/${reel}/variants/hls/`)).length).toBeGreaterThan(1);
});

test('plays an animated picture on its page', async () => {
  await mara.emulateMedia({ reducedMotion: 'no-preference' });
  const id = await uploadReady(mara, await animatedGif(), { title: 'Flag' }, 'flag.gif');
  await mara.goto(`/assets/${id}`);
  const moving = mara.locator('img[data-moving]');
  await expect.poll(() => naturalWidth(moving)).toBeGreaterThan(0);
  expect(await moving.getAttribute('src')).toMatch(new RegExp(`/assets/${id}/file`));
});

test('loads tiles, never the original, at 1:1', async () => {
  const { tiles } = await call(mara, 'GET', `/assets/${coast}/media`);
  await mara.goto(`/assets/${coast}`);
  await fullScreen(mara).click();
  await viewer(mara).getByRole('img', { name: 'Coast' }).locator('canvas').first().waitFor();
  await zoomLabel(mara).waitFor();
  const asked: string[] = [];
  mara.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const deepest = mara.waitForResponse(
    (one) => one.url().includes(`/tiles/${tiles.levels - 1}/`) && one.ok(),
  );
  await mara.keyboard.press('1');
  await viewer(mara).getByText('100%').waitFor();
  await deepest;
  expect(asked.filter((path) => !path.includes(`/assets/${coast}/tiles/`))).toEqual([]);
});

test('on a phone, plays a video in its post, zooms by pinching and runs the slideshow', async () => {
  // With reduced motion, the browser would scroll in addition.
  const page = await studio.enter('mara', { ...phone, reducedMotion: 'reduce' });
  await page.clock.install();
  await page.goto(`/posts/${post}`);
  const film = player(page, 'Tide');
  await film.getByRole('button', { name: 'Play' }).first().tap();
  await expect.poll(() => timeOf(film)).toBeGreaterThan(0.2);
  expect(await overhang(page)).toBe(0);
  // The next slide stops it; the key moves by one, also from a focused button.
  await page.keyboard.press('ArrowRight');
  await film.waitFor({ state: 'detached' });
  await page.getByText('2 / 3').waitFor();

  await fullScreen(page).click();
  await titleOf(page).getByText('Coast').waitFor();
  const picture = viewer(page).getByRole('img', { name: 'Coast' });
  await picture.locator('canvas').first().waitFor();
  await expect.poll(() => percent(page)).toBeGreaterThan(0);
  const whole = await percent(page);
  const fingers = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', apart?: number) =>
    fingers.send('Input.dispatchTouchEvent', {
      type,
      touchPoints:
        apart === undefined ? [] : [-1, 1].map((side, id) => ({ x: 195 + side * apart, y: 420, id })),
    });
  await touch('touchStart', 20);
  for (const apart of [40, 70, 110, 160]) await touch('touchMove', apart);
  await touch('touchEnd');
  await expect.poll(() => percent(page)).toBeGreaterThan(whole * 2);

  // Only wider windows have the button; the key works everywhere.
  await page.keyboard.press('s');
  await page.clock.fastForward(5500);
  await titleOf(page).getByText('Buoy').waitFor();
  await page.context().close();
});

test('serves subtitles, tiles and streams to visitors as the share link allows', async () => {
  await transcoded(tide);
  const { token } = await call(mara, 'POST', `/posts/${post}/links`, { allow_download: true });
  const outsider = await studio.openPage(phone);
  await outsider.goto(`/s/${token}`);
  await outsider.getByRole('button', { name: 'Show Tide' }).click();
  await viewer(outsider).getByText('0:00 / 0:16').waitFor();
  await viewer(outsider).getByLabel('Subtitles').selectOption('English');
  await outsider.keyboard.press('k');
  await expect.poll(async () => (await stateOf(viewer(outsider))).cue).toBe('High water');
  const tile = outsider.waitForResponse((one) =>
    one.url().includes(`/links/${token}/assets/${coast}/tiles/`),
  );
  await outsider.keyboard.press('ArrowRight');
  expect((await tile).status()).toBe(200);
  expect(await overhang(outsider)).toBe(0);

  // Without originals, the film plays as streams, and the picture is limited to the ladder.
  const [link] = (await call(mara, 'GET', `/posts/${post}/links`)).items;
  await call(mara, 'PATCH', `/links/${link.id}`, { allow_download: false });
  const asked: string[] = [];
  outsider.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await outsider.goto(`/s/${token}`);
  await outsider.getByRole('button', { name: 'Show Tide' }).click();
  await expect.poll(async () => (await stateOf(viewer(outsider))).width).toBeGreaterThan(0);
  await outsider.keyboard.press('ArrowRight');
  await titleOf(outsider).getByText('Coast').waitFor();
  await zoomLabel(outsider).waitFor({ state: 'attached' });
  expect(asked.some((path) => path.includes('/variants/hls/'))).toBe(true);
  expect(asked.filter((path) => /\/file$|\/tiles\//.test(path))).toEqual([]);
  expect(studio.faults).toEqual([]);
});
