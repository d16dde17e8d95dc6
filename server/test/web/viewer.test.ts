import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { stl, torus } from '../media/models.ts';
import { jpeg } from '../support/pictures.ts';
import { call, fileOf, publish, uploadReady } from './call.ts';
import { dialogClosed, naturalWidth, overhang, pathsAsked, phone, showMore, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const subtitles =
  '1\n00:00:00,000 --> 00:00:30,000\nHigh water\n\n2\n00:00:30,000 --> 00:00:39,000\nThe bell buoy\n';

const studio = await openStudio();
const mara = await studio.enter('mara');
const visitor = await studio.openPage(phone);
const options = { deadline: 'realtime', 'cpu-used': '8' };
const video = {
  source: 'testsrc2=s=160x90:r=10',
  encoder: 'libvpx-vp9',
  rate: { num: 10, den: 1 },
  options,
};
/** So long that it does not end while a busy machine plays it, with few frames to encode. */
const film = await clip({ format: 'webm', video, audio: { encoder: 'libopus' }, seconds: 40 });
const mpeg2 = await clip({ format: 'mpeg', video: { encoder: 'mpeg2video' }, seconds: 2 });
/** Chromium plays the tide, which has subtitles. No browser plays the reel, which is in MPEG-2. */
const tide = await uploadReady(mara, film, { title: 'Tide' }, 'tide.webm');
const reel = await uploadReady(mara, mpeg2, { title: 'Reel' }, 'reel.mpg');
/** The coast has more pixels than its ladder. */
const coast = await uploadReady(mara, await jpeg(4600, 350), { title: 'Coast' });
const buoy = await uploadReady(mara, await jpeg(600, 400, { seed: 2 }), { title: 'Buoy' });
const comic = await uploadReady(mara, await jpeg(300, 1800), { title: 'Comic' });
const file = fileOf('tide.srt', Buffer.from(subtitles), 'text/plain');
const put = await mara.request.put(`/api/v1/assets/${tide}/subtitles/en`, {
  multipart: { label: 'English', file },
});
expect(put.status(), await put.text()).toBe(201);
const strip = await publish(mara, 'Strip', [comic]);
const shore = await publish(mara, 'Shore', [tide, coast, buoy]);

const viewer = (page: Page): Locator => page.getByRole('dialog');
const titleOf = (page: Page): Locator => viewer(page).getByRole('heading').first();
const fullScreen = (page: Page): Locator => page.getByRole('button', { name: 'Full screen' });
const player = (page: Page, name: string) => page.getByRole('group', { name: `Player of ${name}` });

/** Returns the zoom of the picture in percent. */
const percent = async (page: Page) => {
  const text = await viewer(page)
    .getByText(/^\d+%$/)
    .textContent();
  return Number.parseInt(text ?? '', 10);
};

/** Opens a new asset in full screen. */
async function show(bytes: Uint8Array<ArrayBuffer>, title: string, name?: string) {
  const id = await uploadReady(mara, bytes, { title }, name);
  await visit(mara, `/assets/${id}`);
  await fullScreen(mara).click();
  await viewer(mara).waitFor();
  return { close: () => mara.keyboard.press('Escape') };
}

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

const transcoded = (id: string) =>
  vi.waitFor(
    async () => expect((await call(mara, 'GET', `/assets/${id}/media`)).transcoding?.state).toBe('done'),
    { timeout: 60_000, interval: 200 },
  );

/** Moves fingers on the screen, from and to these places. */
async function swipe(page: Page, ...ways: { x: number }[][]): Promise<void> {
  const fingers = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', places: { x: number }[]) => {
    const touchPoints = places.map(({ x }, id) => ({ x, y: 420, id }));
    return fingers.send('Input.dispatchTouchEvent', { type, touchPoints });
  };
  const [start = [], ...moves] = ways;
  await touch('touchStart', start);
  for (const places of moves) await touch('touchMove', places);
  await touch('touchEnd', []);
}

test('opens a post in full screen, zooms by keyboard, loads tiles, and returns to the feed', async () => {
  const { tiles } = await call(mara, 'GET', `/assets/${coast}/media`);
  await mara.goto('/');
  await mara.getByRole('link', { name: /^Shore/ }).click();
  await fullScreen(mara).click();
  await viewer(mara).waitFor();
  await mara.keyboard.press('ArrowRight');
  await titleOf(mara).getByText('Coast').waitFor();
  await expect.poll(() => percent(mara)).toBeLessThan(60);
  const whole = await percent(mara);
  await mara.keyboard.press('+');
  await expect.poll(() => percent(mara)).toBe(Math.round(whole * 1.5));
  // At 1:1, tiles are loaded and never the original.
  const asked = pathsAsked(mara);
  const deepest = mara.waitForResponse(
    (one) => one.url().includes(`/tiles/${tiles.levels - 1}/`) && one.ok(),
  );
  await mara.keyboard.press('1');
  await expect.poll(() => percent(mara)).toBe(100);
  await deepest;
  expect(asked.filter((path) => path.endsWith(`/assets/${coast}/file`))).toEqual([]);
  await mara.keyboard.press('0');
  await expect.poll(() => percent(mara)).toBe(whole);

  await mara.keyboard.press('ArrowRight');
  await titleOf(mara).getByText('Buoy').waitFor();
  // A small picture is not enlarged.
  await expect.poll(() => percent(mara)).toBe(100);
  await mara.keyboard.press('End');
  await titleOf(mara).getByText('Comic').waitFor();
  const page = viewer(mara).getByRole('region', { name: 'Comic, scrollable' });
  await expect.poll(() => naturalWidth(page.getByRole('img'))).toBe(300);
  await mara.keyboard.press('ArrowDown');
  await expect.poll(() => page.evaluate((one) => one.scrollTop)).toBeGreaterThan(50);

  // Escape closes one layer at a time.
  await mara.keyboard.press('?');
  const shortcuts = viewer(mara).getByRole('region', { name: 'Keyboard shortcuts' });
  await shortcuts.getByText('Actual size').waitFor();
  await mara.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  await viewer(mara).waitFor();
  await mara.keyboard.press('Escape');
  await mara.waitForURL(`**/posts/${strip}`);
  // The page of a tall picture shows its top.
  await mara.getByText('Open to see all of it').waitFor();
  await mara.goBack();
  await mara.getByRole('link', { name: /^Shore/ }).waitFor();
});

test('plays a video on its page with subtitles, speed and single frames, and continues in full screen', async () => {
  await visit(mara, `/assets/${tide}`);
  const film = player(mara, 'Tide');
  await film.getByText('0:00 / 0:40').waitFor();
  await film.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => timeOf(film)).toBeGreaterThan(0.2);
  expect(await viewer(mara).count()).toBe(0);
  await film.getByLabel('Subtitles').selectOption('English');
  await expect.poll(async () => (await stateOf(film)).cue).toBe('High water');
  await film.getByLabel('Speed').selectOption('2×');
  await expect.poll(() => stateOf(film)).toMatchObject({ rate: 2, inline: true, paused: false });

  // Keys work while the player has the focus.
  await film.getByRole('button', { name: 'Pause' }).focus();
  await mara.keyboard.press('l');
  await expect.poll(() => timeOf(film)).toBeGreaterThan(10);
  await mara.keyboard.press('k');
  await film.getByRole('button', { name: 'Play' }).waitFor();
  const language = film.getByLabel('Subtitles');
  await mara.keyboard.press('v');
  await expect.poll(() => language.inputValue()).toBe('');
  await mara.keyboard.press('v');
  await expect.poll(() => language.inputValue()).toBe('en');
  const before = await timeOf(film);
  // The first step leads to the middle of a frame, and the next one to the middle of the frame before.
  await mara.keyboard.press(',');
  // The picture on the screen may be one frame ahead of the position.
  const stepped = async () => {
    const time = await timeOf(film);
    return time !== before && Math.abs(((time * 10) % 1) - 0.5) < 0.01;
  };
  await expect.poll(stepped).toBe(true);
  const middle = await timeOf(film);
  await mara.keyboard.press(',');
  await expect.poll(() => timeOf(film)).toBeCloseTo(middle - 0.1, 2);

  // A reload resumes at the same place, and full screen continues it.
  await mara.reload();
  await expect.poll(() => timeOf(film)).toBeCloseTo(middle - 0.1, 0);
  await film.getByRole('button', { name: 'Play' }).click();
  await film.getByRole('button', { name: 'Pause' }).waitFor();
  await fullScreen(mara).click();
  await viewer(mara).waitFor();
  await expect.poll(async () => (await stateOf(viewer(mara))).paused).toBe(false);
  await expect.poll(() => timeOf(viewer(mara))).toBeGreaterThan(9);
  const position = viewer(mara).getByRole('slider', { name: 'Position' });
  await position.hover({ position: { x: 400, y: 12 } });
  await viewer(mara).locator('[data-preview]').waitFor();
  await mara.keyboard.press('Escape');
});

// SUBTITLE-13
test('has a transcript of a film that can be searched, and whose times play it, also behind a link', async () => {
  await visit(mara, `/assets/${tide}`);
  const film = player(mara, 'Tide');
  await film.getByText('/ 0:40').waitFor();
  const transcript = mara.getByRole('region', { name: 'Transcript' });
  await transcript.getByRole('button', { name: 'Show the transcript' }).click();
  await expect.poll(() => transcript.getByRole('listitem').count()).toBe(2);
  await transcript.getByRole('searchbox').fill('BELL');
  await transcript.getByText('1 passage').waitFor();
  await transcript.getByRole('button', { name: 'Play from 0:30' }).click();
  await expect.poll(() => timeOf(film)).toBeGreaterThanOrEqual(30);
  await transcript.locator('[aria-current]').getByText('The bell buoy').waitFor();
  await film.getByRole('button', { name: 'Pause' }).click();

  const { url } = await call(mara, 'POST', `/assets/${tide}/links`, { allow_download: true });
  await visitor.goto(new URL(url).pathname);
  const shared = visitor.getByRole('region', { name: 'Transcript' });
  await shared.getByRole('button', { name: 'Show the transcript' }).click();
  await shared.getByText('The bell buoy').waitFor();
  await shared.getByRole('button', { name: 'Play from 0:30' }).click();
  await viewer(visitor).waitFor();
  await expect.poll(() => timeOf(viewer(visitor))).toBeGreaterThanOrEqual(29);
  await visitor.keyboard.press('Escape');
  await viewer(visitor).waitFor({ state: 'detached' });
  // Forgets where the film was left.
  await visitor.evaluate(() => localStorage.clear());
});

test('streams a video that browsers cannot play', async () => {
  await transcoded(reel);
  const asked = pathsAsked(mara);
  await visit(mara, `/assets/${reel}`);
  const film = player(mara, 'Reel');
  await expect.poll(async () => (await stateOf(film)).width).toBe(320);
  await film.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => timeOf(film)).toBeGreaterThan(0.3);
  const streamed = () => asked.filter((path) => path.includes(`/assets/${reel}/variants/hls/`));
  await expect.poll(() => streamed().length).toBeGreaterThan(1);
  await mara.keyboard.press('k');
});

test('gives a stored film subtitles and another cover frame', async () => {
  await visit(mara, `/assets/${reel}`);
  await mara.getByRole('button', { name: 'Add subtitles' }).click();
  const dialog = mara.getByRole('dialog');
  const words = { name: 'reel.pt-BR.srt', mimeType: 'text/plain', buffer: Buffer.from(subtitles) };
  // The language of a file that was chosen before must not be given to another.
  await dialog.getByLabel('File').setInputFiles({ ...words, name: 'reel.de.srt' });
  await expect.poll(() => dialog.getByLabel('Language').inputValue()).toBe('de');
  await dialog.getByLabel('File').setInputFiles(words);
  await expect.poll(() => dialog.getByLabel('Language').inputValue()).toBe('pt-BR');
  await dialog.getByRole('button', { name: 'Add' }).click();
  const list = mara.getByRole('list', { name: 'Subtitles' });
  await list.getByText('Brazilian Portuguese').waitFor();
  await list.getByRole('button', { name: /^Remove the subtitles/ }).click();
  await list.waitFor({ state: 'detached' });

  const frame = dialog.locator('video');
  const chooser = mara.getByRole('button', { name: 'Choose the cover frame' });
  for (const width of [1440, 390]) {
    await mara.setViewportSize({ width, height: 900 });
    await showMore(mara);
    await chooser.click();
    await expect.poll(() => frame.evaluate((one: HTMLVideoElement) => one.readyState)).toBeGreaterThan(0);
    await dialog.getByLabel('Seconds from the beginning').fill('9');
    await dialog.getByRole('button', { name: 'Use this frame' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await overhang(mara)).toBe(0);
    await mara.keyboard.press('Escape');
    await dialogClosed(mara, chooser);
  }
  await chooser.click();
  await dialog.getByLabel('Seconds from the beginning').fill('0.8');
  await dialog.getByRole('button', { name: 'Use this frame' }).click();
  await dialog.waitFor({ state: 'detached' });
  const chosen = async () => (await call(mara, 'GET', `/assets/${reel}/media`)).facts.poster_seconds;
  await expect.poll(chosen).toBe(0.8);
  await mara.setViewportSize({ width: 1280, height: 900 });
});

test('seeks in a sound by its waveform', async () => {
  const sound = await clip({ format: 'wav', audio: { encoder: 'pcm_s16le' }, seconds: 20 });
  const { close } = await show(sound, 'Bell', 'bell.wav');
  const dialog = viewer(mara);
  await dialog.getByText('0:00 / 0:20').waitFor();
  await dialog.getByRole('button', { name: /^Waveform/ }).click();
  await dialog.getByText('0:10 / 0:20').waitFor();
  await close();
});

test('scrolls through the pages of a PDF', async () => {
  const { close } = await show(pdf(['One', 'Two', 'Three']), 'Report', 'report.pdf');
  const pages = viewer(mara).getByRole('region', { name: 'Pages of Report' });
  await viewer(mara).getByText('Page 1 of 3').waitFor();
  await expect.poll(() => naturalWidth(pages.getByRole('img', { name: 'Page 1' }))).toBeGreaterThan(100);
  await pages.getByRole('img', { name: 'Page 3' }).scrollIntoViewIfNeeded();
  await viewer(mara).getByText('Page 3 of 3').waitFor();
  await close();
});

test('renders Markdown in a frame without scripts', async () => {
  const text = new TextEncoder().encode('# Tides\n\nSome `code` and **words**.\n');
  const { close } = await show(text, 'Note', 'note.md');
  const frame = viewer(mara).locator('iframe');
  await expect.poll(() => frame.getAttribute('srcdoc')).toMatch(/<h1[^>]*>Tides/);
  expect(await frame.getAttribute('sandbox')).not.toMatch(/scripts|same-origin/);
  await close();
});

/** Counts what WebGL would draw instead of drawing it: without a GPU, the light of a scene takes the processor 10 s. */
function countDrawing(page: Page): Promise<void> {
  return page.evaluate(() => {
    Object.assign(globalThis, { drawings: 0 });
    const count = () => Object.assign(globalThis, { drawings: Reflect.get(globalThis, 'drawings') + 1 });
    if ('WebGL2RenderingContext' in globalThis)
      Object.assign(WebGL2RenderingContext.prototype, { drawArrays: count, drawElements: count });
  });
}

/** Returns how much was drawn, after some frames. */
const drawings = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    for (let frames = 0; frames < 5; frames += 1) await new Promise(requestAnimationFrame);
    return Reflect.get(globalThis, 'drawings');
  });

test('loads a 3D model and draws it only when it has moved, or shows its picture where WebGL is missing', async () => {
  await visit(mara, '/tags');
  await countDrawing(mara);
  const { close } = await show(stl(torus(12, 8)), 'Ring', 'ring.stl');
  const model = viewer(mara)
    .getByRole('img', { name: /^3D model of Ring/ })
    .and(mara.locator('[data-ready=true]'));
  const still = viewer(mara).getByRole('img', { name: 'Ring', exact: true });
  await model.or(still).waitFor();
  if ((await still.count()) === 0) {
    const before = await drawings(mara);
    expect(before).toBeGreaterThan(0);
    expect(await drawings(mara)).toBe(before);
    await mara.keyboard.press('+');
    await expect.poll(() => drawings(mara)).toBeGreaterThan(before);
  }
  await close();
});

test('shows details of a file and a map of where it was taken', async () => {
  const id = await uploadReady(mara, await jpeg(300, 200, { exif: { Make: 'Canon' } }), { title: 'Beach' });
  const fields = (await call(mara, 'GET', '/fields?subject_kind=asset&limit=100')).items;
  const field = fields.find(({ code }: { code: string }) => code === 'gps_coordinates');
  await call(mara, 'PUT', `/assets/${id}/fields/${field.id}`, { value_text: '54.321, 10.134' });
  // The camera is read by another job than the picture, so it may arrive while the page is open.
  const none = { json: { items: [] } };
  await mara.route(`**/api/v1/assets/${id}/fields`, (route) => route.fulfill(none), { times: 1 });
  await visit(mara, `/assets/${id}`);
  const place = mara.getByRole('region', { name: 'Where it was taken' });
  await place.getByRole('img', { name: 'World map with a dot at 54.321° N, 10.134° E' }).waitFor();
  await fullScreen(mara).click();
  await viewer(mara).waitFor();
  await titleOf(mara).getByText('Beach').waitFor();
  await mara.keyboard.press('i');
  const details = viewer(mara).getByRole('complementary', { name: 'Details' });
  await details.getByText('300 × 200').waitFor();
  await details.getByRole('img', { name: 'World map with a dot at 54.321° N, 10.134° E' }).waitFor();
  await details.getByText('Canon').waitFor();
  await mara.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await mara.keyboard.press('Escape');
  await viewer(mara).waitFor({ state: 'detached' });
});

test('on a phone, plays a video in its post, zooms by pinching, swipes and runs the slideshow', async () => {
  const page = await studio.enter('mara', phone);
  await page.clock.install();
  await page.goto(`/posts/${shore}`);
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
  await swipe(page, ...[20, 40, 70, 110, 160].map((apart) => [{ x: 195 - apart }, { x: 195 + apart }]));
  await expect.poll(() => percent(page)).toBeGreaterThan(whole * 2);
  await page.keyboard.press('0');
  await expect.poll(() => percent(page)).toBe(whole);
  await swipe(page, ...[320, 250, 180, 90].map((x) => [{ x }]));
  await titleOf(page).getByText('Buoy').waitFor();
  expect(await overhang(page)).toBe(0);
  await page.keyboard.press('ArrowLeft');
  await titleOf(page).getByText('Coast').waitFor();
  // Only wider windows have the button; the key works everywhere.
  await page.keyboard.press('s');
  await page.clock.fastForward(5500);
  await titleOf(page).getByText('Buoy').waitFor();
});

test('a visitor of a share link without downloads gets streams and previews, never originals', async () => {
  await transcoded(tide);
  const { token } = await call(mara, 'POST', `/posts/${shore}/links`, { allow_download: false });
  const asked = pathsAsked(visitor);
  await visitor.goto(`/s/${token}`);
  await visitor.getByRole('button', { name: 'Show Tide' }).click();
  await expect.poll(async () => (await stateOf(viewer(visitor))).width).toBeGreaterThan(0);
  await viewer(visitor).getByLabel('Subtitles').selectOption('English');
  await visitor.keyboard.press('k');
  await expect.poll(async () => (await stateOf(viewer(visitor))).cue).toBe('High water');
  await visitor.keyboard.press('ArrowRight');
  await titleOf(visitor).getByText('Coast').waitFor();
  await expect.poll(() => percent(visitor)).toBeGreaterThan(0);
  expect(asked.some((path) => path.includes('/variants/hls/'))).toBe(true);
  expect(asked.filter((path) => /\/file$|\/tiles\//.test(path))).toEqual([]);
});
