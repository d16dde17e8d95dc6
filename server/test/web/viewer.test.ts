import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { stl, torus } from '../media/models.ts';
import { jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { naturalWidth, overhang } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';
import { fullScreen, percent, phone, playableVideo, titleOf, viewer } from './viewing.ts';

const markdown = '# Tides\n\nSome `code` and **words**.\n\n- high\n- low\n\n```js\nconst a = 1;\n```\n';
/** A font from npm. */
const face = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';
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

test('opens a post in full screen, zooms by keyboard and returns to the feed', async () => {
  await mara.goto('/');
  await mara.getByRole('link', { name: /^Harbour/ }).click();
  await fullScreen(mara).click();
  await titleOf(mara).getByText('Alpha').waitFor();
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
  await titleOf(mara).getByText('Bravo').waitFor();
  // A small picture is not enlarged.
  await expect.poll(() => percent(mara)).toBe(100);
  await mara.keyboard.press('ArrowLeft');
  await titleOf(mara).getByText('Alpha').waitFor();
  await mara.keyboard.press('End');
  await titleOf(mara).getByText('Comic').waitFor();
  const page = viewer(mara).getByRole('region', { name: 'Comic, to scroll through' });
  await expect.poll(() => naturalWidth(page.getByRole('img'))).toBe(700);
  await mara.keyboard.press('ArrowDown');
  await expect.poll(() => page.evaluate((one) => one.scrollTop)).toBeGreaterThan(50);

  await mara.keyboard.press('Escape');
  await mara.waitForURL(`**/posts/${second}`);
  // The page of a tall picture shows its top.
  await mara.getByText('Open to see all of it').waitFor();
  await mara.goBack();
  await mara.getByRole('link', { name: /^Harbour/ }).waitFor();
});

test('the question mark shows the shortcuts, and Escape closes one layer at a time', async () => {
  await mara.goto(`/posts/${first}`);
  await fullScreen(mara).click();
  await titleOf(mara).getByText('Alpha').waitFor();
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

test('steps through the library; closing shows the page of the last file', async () => {
  await mara.goto('/assets');
  await mara.getByRole('link', { name: /^Bravo/ }).click();
  await fullScreen(mara).click();
  await titleOf(mara).getByText('Bravo').waitFor();
  await viewer(mara).getByRole('button', { name: 'Next' }).click();
  await titleOf(mara).getByText('Alpha').waitFor();
  await viewer(mara).getByRole('button', { name: 'Close' }).click();
  await mara.getByRole('heading', { name: 'Alpha', level: 1 }).waitFor();
});

test('on a phone, a swipe shows the next picture and nothing overflows', async () => {
  const page = await studio.enter('mara', phone);
  await page.goto(`/posts/${first}`);
  await fullScreen(page).click();
  await titleOf(page).getByText('Alpha').waitFor();
  const finger = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
    finger.send('Input.dispatchTouchEvent', { type, touchPoints: x === undefined ? [] : [{ x, y: 420 }] });
  await viewer(page).getByRole('img', { name: 'Alpha' }).locator('canvas').first().waitFor();
  await touch('touchStart', 320);
  for (const x of [250, 180, 90]) await touch('touchMove', x);
  await touch('touchEnd');
  await titleOf(page).getByText('Bravo').waitFor();
  expect(await overhang(page)).toBe(0);
  await page.context().close();
  expect(studio.faults).toEqual([]);
});

test('plays a video, resumes it, steps by frame and shows scrub previews', async (context) => {
  const id = await uploadReady(mara, await playableVideo(), { title: 'Tide' }, 'tide.webm');
  await mara.goto(`/assets/${id}`);
  await fullScreen(mara).click();
  const video = viewer(mara).locator('video');
  if (
    !(await video.evaluate(
      (one) => one instanceof HTMLVideoElement && one.canPlayType('video/webm; codecs=vp9') !== '',
    ))
  )
    return context.skip('this browser plays no VP9');
  const time = () => video.evaluate((one) => (one instanceof HTMLVideoElement ? one.currentTime : 0));
  const state = () =>
    video.evaluate((one) => (one instanceof HTMLVideoElement ? [one.paused, one.playbackRate] : []));
  await viewer(mara).getByText('0:00 / 0:16').waitFor();
  await mara.keyboard.press('Space');
  await expect.poll(time).toBeGreaterThan(0.3);
  await mara.keyboard.press('>');
  await mara.keyboard.press('l');
  await expect.poll(time).toBeGreaterThan(10);
  await mara.keyboard.press('k');
  await expect.poll(state).toEqual([true, 1.25]);
  const before = await time();
  await mara.keyboard.press('.');
  await expect.poll(time).toBeCloseTo(before + 0.04, 2);

  const scrubber = viewer(mara).getByRole('slider', { name: 'Position' });
  await scrubber.hover({ position: { x: 400, y: 12 } });
  await viewer(mara).locator('[data-preview]').waitFor();

  await mara.keyboard.press('Escape');
  await viewer(mara).waitFor({ state: 'detached' });
  await mara.reload();
  await fullScreen(mara).click();
  await expect.poll(time).toBeGreaterThan(10);
  await mara.keyboard.press('Escape');
});

test('seeks in a sound by its waveform', async () => {
  const sound = await clip({ format: 'wav', audio: { encoder: 'pcm_s16le' }, seconds: 20 });
  const id = await uploadReady(mara, sound, { title: 'Bell' }, 'bell.wav');
  await mara.goto(`/assets/${id}`);
  await fullScreen(mara).click();
  const waveform = viewer(mara).getByRole('button', { name: /^Waveform/ });
  await viewer(mara).getByText('0:00 / 0:20').waitFor();
  await waveform.click();
  await viewer(mara).getByText('0:10 / 0:20').waitFor();
  await mara.keyboard.press('Escape');
});

test('scrolls through the pages of a PDF', async () => {
  const id = await uploadReady(mara, pdf(['One', 'Two', 'Three']), { title: 'Report' }, 'report.pdf');
  await mara.goto(`/assets/${id}`);
  await fullScreen(mara).click();
  const pages = viewer(mara).getByRole('region', { name: 'Pages of Report' });
  await viewer(mara).getByText('Page 1 of 3').waitFor();
  await expect.poll(() => naturalWidth(pages.getByRole('img', { name: 'Page 1' }))).toBeGreaterThan(100);
  await pages.getByRole('img', { name: 'Page 3' }).scrollIntoViewIfNeeded();
  await viewer(mara).getByText('Page 3 of 3').waitFor();
  await mara.keyboard.press('Escape');
});

test('renders Markdown in a frame without scripts, and previews any words in a font', async () => {
  const text = new TextEncoder().encode(markdown);
  const note = await uploadReady(mara, text, { title: 'Note' }, 'note.md');
  await mara.goto(`/assets/${note}`);
  await fullScreen(mara).click();
  const frame = viewer(mara).locator('iframe');
  const page = (await frame.getAttribute('srcdoc')) ?? '';
  expect(page).toMatch(/<h1[^>]*>Tides/);
  expect(await frame.getAttribute('sandbox')).not.toMatch(/scripts|same-origin/);
  await mara.keyboard.press('Escape');

  const inter = await readFile(createRequire(import.meta.url).resolve(face));
  const font = await uploadReady(mara, Uint8Array.from(inter), { title: 'Inter' }, 'inter.woff2');
  await mara.goto(`/assets/${font}`);
  await fullScreen(mara).click();
  await viewer(mara).getByLabel('Try it').fill('Harbour');
  const line = viewer(mara).locator('[data-specimen] p').first();
  expect(await line.textContent()).toBe('Harbour');
  expect(await line.evaluate((one) => document.fonts.check(`72px ${getComputedStyle(one).fontFamily}`))).toBe(
    true,
  );
  await mara.keyboard.press('Escape');
});

test('loads a 3D model, or its picture where WebGL is missing', async () => {
  const id = await uploadReady(mara, stl(torus(12, 8)), { title: 'Ring' }, 'ring.stl');
  // Without a GPU, the processor renders every pixel.
  await mara.setViewportSize({ width: 400, height: 300 });
  await mara.goto(`/assets/${id}`);
  const loaded = mara.waitForResponse((answer) => answer.url().includes('model.glb') && answer.ok());
  await fullScreen(mara).click();
  // Without WebGL, the still picture is shown instead.
  const still = viewer(mara).getByRole('img', { name: 'Ring', exact: true });
  await Promise.race([loaded, still.waitFor()]);
  await mara.keyboard.press('Escape');
  await mara.setViewportSize({ width: 1280, height: 900 });
});

test('shows details of a file and a map of where it was taken', async () => {
  const id = await uploadReady(mara, await jpeg(300, 200, { exif: { Make: 'Canon' } }), { title: 'Beach' });
  const fields = (await call(mara, 'GET', '/fields?subject_kind=asset&limit=100')).items;
  const field = fields.find(({ code }: { code: string }) => code === 'gps_coordinates');
  await call(mara, 'PUT', `/assets/${id}/fields/${field.id}`, { value_text: '54.321, 10.134' });
  await mara.goto(`/assets/${id}`);
  await fullScreen(mara).click();
  await titleOf(mara).getByText('Beach').waitFor();
  await mara.keyboard.press('i');
  const details = viewer(mara).getByRole('complementary', { name: 'Details' });
  await details.getByText('300 × 200').waitFor();
  await details.getByRole('img', { name: 'World map with a dot at 54.321° N, 10.134° E' }).waitFor();
  await details.getByText('Canon').waitFor();
  await mara.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await viewer(mara).waitFor();
  await mara.keyboard.press('Escape');
  expect(studio.faults).toEqual([]);
});
