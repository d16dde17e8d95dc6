import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { drag, isFocused, overhang, phone, placeIn, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');
const ben = await studio.join('ben', 'Ben Ahlgren', phone);
const buoy = await uploadReady(mara, await jpeg(600, 400, { seed: 2 }), { title: 'Buoy' });
const report = await uploadReady(mara, pdf(['One', 'Two', 'Three']), { title: 'Report' }, 'report.pdf');
const shore = await publish(mara, 'Shore', [buoy, report]);

const viewer = (page: Page): Locator => page.getByRole('dialog');
const fullScreen = (page: Page): Locator => page.getByRole('button', { name: 'Full screen' });
const panel = (page: Page): Locator => page.getByRole('complementary', { name: 'Comments on this file' });

/** Annotates a file through the API, and returns the id of the comment. */
async function annotate(
  page: Page,
  post: string,
  asset_id: string,
  anchor: object,
  body: string,
): Promise<string> {
  return (await call(page, 'POST', `/posts/${post}/annotations`, { asset_id, anchor, body })).id;
}

const entry = (page: Page, text: string): Locator =>
  panel(page).getByRole('article').filter({ hasText: text });
const placeButton = (page: Page, text: string): Locator =>
  entry(page, text)
    .filter({ hasText: new RegExp(`${text}(?!\\d)`) })
    .getByRole('button', { name: /^Show the place/ });

/** Returns the annotations of a file, newest first. */
async function listOf(
  page: Page,
  asset: string,
): Promise<{ id: string; body: string; annotation: { anchor: { kind: string } } }[]> {
  return (await call(page, 'GET', `/posts/${shore}/comments?asset_id=${asset}`)).items;
}
const anchorsOf = async (page: Page, asset: string) =>
  (await listOf(page, asset)).map(({ annotation }) => annotation.anchor);

/** Drags up with two fingers by 100 pixels. */
async function dragWithTwo(page: Page): Promise<void> {
  const fingers = await page.context().newCDPSession(page);
  const at = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...heights: number[]) =>
    fingers.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: heights.flatMap((y) => [120, 240].map((x, id) => ({ x, y, id }))),
    });
  await at('touchStart', 300);
  await at('touchMove', 250);
  await at('touchMove', 200);
  await at('touchEnd');
}

/** The number of binary digits in a frame of a numbered film, and the size of each in pixels. */
const [digits, block] = [8, 16];

/** A film whose frames show their number as a row of black and white blocks, the lowest digit first. */
function numberedFilm(num: number, den: number) {
  const lum = `if(mod(floor(N/pow(2,floor(X/${block}))),2),235,16)`;
  const source = `color=black:s=${digits * block}x48:r=${num}/${den},geq=lum='${lum}':cb=128:cr=128`;
  const options = { deadline: 'realtime', 'cpu-used': '8', g: '30' };
  const video = { source, encoder: 'libvpx-vp9', rate: { num, den }, options };
  return clip({ format: 'mp4', video, seconds: (62 * den) / num });
}

/** Reads the number of the frame that a numbered film shows on the screen. */
async function numberOnScreen(page: Page): Promise<number> {
  const box = await viewer(page).locator('video').boundingBox();
  if (box === null) throw new Error('there is no film');
  // A strip through the middle costs a fraction of the whole picture.
  const clip = { ...box, y: box.y + box.height / 2, height: 3 };
  const { data, info } = await sharp(await page.screenshot({ clip }))
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  // The picture is as wide as its room allows.
  const scale = Math.min(info.width / (digits * block), box.height / 48);
  const left = (info.width - digits * block * scale) / 2;
  const row = info.width;
  let number = 0;
  for (let digit = 0; digit < digits; digit += 1) {
    const x = Math.floor(left + (digit + 0.5) * block * scale);
    if ((data[row + x] ?? 0) > 128) number += 2 ** digit;
  }
  return number;
}

// MEDIA-64
test.each([
  ['23.976', 24_000, 1001],
  ['24', 24, 1],
  ['25', 25, 1],
  ['29.97', 30_000, 1001],
  ['30', 30, 1],
  ['50', 50, 1],
  ['59.94', 60_000, 1001],
  ['60', 60, 1],
])(
  'shows the frame of every annotation at %s frames a second, and steps frame by frame',
  async (name, num, den) => {
    const film = await uploadReady(mara, await numberedFilm(num, den), { title: `Film ${name}` }, 'film.mp4');
    const post = await publish(mara, `Film at ${name}`, [film]);
    // 1.9602917 s, which browsers cut to microseconds, is frame 47 at 23.976.
    const frames = [0, 10, 30, 47, 60];
    for (const frame of frames)
      await annotate(mara, post, film, { kind: 'time', start: (frame * den) / num }, `Frame ${frame}`);
    await visit(mara, `/posts/${post}`);
    await fullScreen(mara).click();
    await viewer(mara)
      .getByRole('button', { name: `Comments, ${frames.length} open` })
      .click();
    const timeline = viewer(mara).locator('[data-timeline]');
    await expect.poll(() => timeline.getAttribute('data-timeline')).toBe(String(frames.length));
    for (const frame of frames) {
      await placeButton(mara, `Frame ${frame}`).click();
      await expect.poll(() => numberOnScreen(mara)).toBe(frame);
    }
    for (const [key, frame] of [
      [',', 59],
      [',', 58],
      ['.', 59],
    ] as const) {
      await mara.keyboard.press(key);
      await expect.poll(() => numberOnScreen(mara)).toBe(frame);
    }
    await mara.keyboard.press('Escape');
    await mara.keyboard.press('Escape');
  },
);

// ANNOTATION-1, ANNOTATION-2
test('places comments on a picture by keyboard and by mouse, where they stay while it is zoomed', async () => {
  await visit(mara, `/posts/${shore}`);
  await fullScreen(mara).click();
  await viewer(mara)
    .getByText(/^\d+%$/)
    .waitFor();
  await mara.keyboard.press('c');
  const text = panel(mara).getByLabel('Write a comment');
  // Keys that come before the focus would be shortcuts.
  await expect.poll(() => isFocused(text)).toBe(true);
  await mara.keyboard.type('The middle');
  // What was written about a file is kept when the viewer closes.
  await viewer(mara).getByRole('button', { name: 'Close', exact: true }).click();
  await viewer(mara).waitFor({ state: 'detached' });
  await fullScreen(mara).click();
  await viewer(mara)
    .getByText(/^\d+%$/)
    .waitFor();
  await mara.keyboard.press('c');
  await expect.poll(() => isFocused(text)).toBe(true);
  expect(await text.inputValue()).toBe('The middle');
  await mara.keyboard.press('Control+Enter');
  await entry(mara, 'The middle').waitFor();
  const [middle] = await anchorsOf(mara, buoy);
  expect(middle).toEqual({ kind: 'point', x: expect.closeTo(0.5, 2), y: expect.closeTo(0.5, 2) });

  // A region is drawn while its text is written.
  await panel(mara).getByRole('button', { name: 'Comment on a place' }).click();
  await expect.poll(() => isFocused(text)).toBe(true);
  await mara.keyboard.type('Too dark');
  const picture = viewer(mara).getByRole('img', { name: 'Buoy' });
  const stage = await picture.boundingBox();
  if (stage === null) throw new Error('there is no picture');
  await drag(mara, await placeIn(picture, 0.55, 0.55), await placeIn(picture, 0.65, 0.6));
  await panel(mara).getByRole('button', { name: 'Comment', exact: true }).click();
  await entry(mara, 'Too dark').waitFor();
  const region = (await anchorsOf(mara, buoy)).find(({ kind }) => kind === 'region');
  // The picture of 600 pixels is shown in its own size in the middle of the stage.
  const part = (share: number, size: number, whole: number) => 0.5 + ((share - 0.5) * whole) / size;
  expect(region).toEqual({
    kind: 'region',
    x: expect.closeTo(part(0.55, 600, stage.width), 2),
    y: expect.closeTo(part(0.55, 400, stage.height), 2),
    w: expect.closeTo((0.1 * stage.width) / 600, 2),
    h: expect.closeTo((0.05 * stage.height) / 400, 2),
  });

  // The corner of the region moves away from the middle with the picture; the pin keeps its size.
  const pin = (text: string) =>
    mara.evaluate((id) => {
      const face = document.querySelector(`[data-annotation="${id}"] circle`);
      const { x, y, width } = face?.getBoundingClientRect() ?? new DOMRect();
      return { x: x + width / 2, y: y + width / 2, width: Math.round(width) };
    }, ids.get(text) ?? '');
  const ids = new Map((await listOf(mara, buoy)).map(({ body, id }): [string, string] => [body, id]));
  const distance = async () => (await pin('Too dark')).x - (await pin('The middle')).x;
  const [before, { width }] = [await distance(), await pin('Too dark')];
  await mara.keyboard.press('+');
  await expect.poll(distance).toBeCloseTo(1.5 * before, 0);
  // The layer is scaled while it zooms, and drawn anew afterwards.
  await expect.poll(async () => (await pin('Too dark')).width).toBe(width);
  // The wheel zooms over a mark, too.
  const { x, y } = await pin('The middle');
  await mara.mouse.move(x, y);
  await mara.mouse.wheel(0, -100);
  await expect.poll(distance).toBeGreaterThan(1.7 * before);
  await mara.keyboard.press('Escape');
  await mara.keyboard.press('Escape');
});

// ANNOTATION-10, ANNOTATION-11
test('lets two people review a post live, also on a phone', async () => {
  await mara.goto(`/posts/${shore}`);
  await mara.getByRole('list', { name: 'Comments' }).waitFor();
  await visit(mara, '/');
  await call(ben, 'POST', `/posts/${shore}/comments`, { body: 'Written in the meantime' });
  await visit(mara, `/posts/${shore}`);
  await mara.getByText('Written in the meantime').waitFor();
  await ben.goto(`/posts/${shore}`);
  await mara.getByText('Also here: Ben Ahlgren').first().waitFor();
  await ben.getByText('Also here: mara').first().waitFor();
  await fullScreen(mara).click();
  await viewer(mara).waitFor();
  await mara.keyboard.press('ArrowRight');
  await viewer(mara).getByRole('button', { name: 'Comments', exact: true }).click();

  // While a place is chosen on a phone, two fingers scroll the pages and one sets the place.
  await ben.getByRole('button', { name: 'Document 2: Report' }).tap();
  await ben.getByText('2 / 2').waitFor();
  await fullScreen(ben).tap();
  await viewer(ben).getByRole('button', { name: 'Comments', exact: true }).tap();
  await panel(ben).getByRole('button', { name: 'Comment on a place' }).tap();
  await panel(ben).getByLabel('Write a comment').fill('A typo here');
  const surface = viewer(ben).locator('[data-page="1"] [data-placing]');
  await surface.waitFor();
  await dragWithTwo(ben);
  const pages = viewer(ben).getByRole('region', { name: 'Pages of Report' });
  const scrolled = () => pages.evaluate(({ scrollTop }) => scrollTop);
  await expect.poll(scrolled).toBeCloseTo(100, -1);
  expect(await viewer(ben).locator('[data-draft]').count()).toBe(0);
  await surface.tap({ position: { x: 60, y: 160 } });
  await viewer(ben).locator('[data-page="1"] [data-draft]').waitFor();
  await panel(ben).getByRole('button', { name: 'Comment', exact: true }).tap();
  await entry(ben, 'A typo here').waitFor();
  expect(await overhang(ben)).toBe(0);
  expect(await anchorsOf(ben, report)).toEqual([
    { kind: 'page', page: 1, x: expect.closeTo(60 / 374, 2), y: expect.any(Number) },
  ]);

  // It appears in the other browser, with its pin, and is announced.
  await entry(mara, 'A typo here').waitFor();
  await viewer(mara).locator('[data-page="1"] [data-annotation]').waitFor();
  await panel(mara).getByRole('status').getByText('New comment by Ben Ahlgren').waitFor();
  await entry(mara, 'A typo here')
    .getByRole('button', { name: /^Resolve/ })
    .click();
  await entry(ben, 'A typo here').getByText('Resolved').waitFor();
  await viewer(ben).locator('[data-page="1"] .resolved[data-annotation]').waitFor();
  await panel(ben).getByRole('button', { name: 'Only open' }).tap();
  await panel(ben).getByText('No comment matches.').waitFor();

  // Ben reopens it, and Mara gives it to him.
  await panel(ben).getByRole('button', { name: 'Only open' }).tap();
  await entry(ben, 'A typo here')
    .getByRole('button', { name: /^Reopen/ })
    .tap();
  await entry(mara, 'A typo here').getByText('Resolved').waitFor({ state: 'detached' });
  await entry(mara, 'A typo here')
    .getByRole('button', { name: /^Assign/ })
    .click();
  await mara.getByLabel('Person').fill('Ben');
  await mara
    .getByRole('list', { name: 'People' })
    .getByRole('button', { name: /Ben Ahlgren/ })
    .click();
  await entry(ben, 'A typo here').getByText('Assigned to Ben Ahlgren').waitFor();
  await panel(ben).getByText('A comment is open, and assigned to Ben Ahlgren').waitFor();
});

// ANNOTATION-7
test('leads from the thread to the place and back, and filters the thread', async () => {
  await annotate(ben, shore, report, { kind: 'page', page: 2 }, 'Page two is empty');
  await mara.goto(`/posts/${shore}`);
  const thread = mara.getByRole('list', { name: 'Comments' });
  const about = (text: string) => thread.getByRole('article').filter({ hasText: text });
  await about('Page two is empty').waitFor();
  await about('Too dark').getByRole('button', { name: 'Show the place: Area' }).click();
  await viewer(mara).getByRole('heading', { name: 'Buoy' }).waitFor();
  await expect.poll(() => panel(mara).locator('[aria-current]').textContent()).toContain('Too dark');
  await mara.keyboard.press('Escape');
  await mara.keyboard.press('Escape');
  await viewer(mara).waitFor({ state: 'detached' });

  await mara.getByRole('button', { name: 'Only this file (2)' }).click();
  await about('Page two is empty').waitFor({ state: 'detached' });
  await about('Too dark').waitFor();
  await mara.getByRole('button', { name: 'Only this file (2)' }).click();
  await mara.getByRole('button', { name: 'Only mine' }).click();
  await about('Page two is empty').waitFor({ state: 'detached' });
  await call(mara, 'POST', `/comments/${(await listOf(mara, buoy))[0]?.id}/resolve`);
  await mara.getByRole('button', { name: /^Only open/ }).click();
  await about('Too dark').waitFor({ state: 'detached' });
  await about('The middle').waitFor();
});

// ANNOTATION-1
test('keeps what is drawn on a picture, a frame and a page, with and without a text', async () => {
  const film = await uploadReady(mara, await numberedFilm(10, 1), { title: 'Waves' }, 'film.mp4');
  const post = await publish(mara, 'Drawn on', [buoy, film, report]);
  const drawing = (page: Page) => viewer(page).getByRole('img', { name: 'A drawing of 1 stroke' });
  const surface = (page: Page) => viewer(page).getByRole('application', { name: 'Drawing' });
  async function draw(page: Page, title: string, text: string) {
    await viewer(page).getByRole('heading', { name: title }).waitFor();
    // The key comments on the frame of a film, too.
    if (title === 'Waves') await page.keyboard.press('c');
    else await panel(page).getByRole('button', { name: 'Comment on a place' }).click();
    await panel(page).getByRole('button', { name: 'Draw', exact: true }).click();
    await drag(page, await placeIn(surface(page), 0.2, 0.1), await placeIn(surface(page), 0.6, 0.2));
    await panel(page).getByLabel('Write a comment').fill(text);
    await panel(page).getByRole('button', { name: 'Comment', exact: true }).click();
    await panel(page)
      .getByRole('button', { name: /with a drawing$/ })
      .waitFor();
    await drawing(page).waitFor();
  }
  await visit(ben, `/posts/${post}`);
  await fullScreen(ben).click();
  await viewer(ben).getByRole('button', { name: 'Comments', exact: true }).click();
  await draw(ben, 'Buoy', '');
  await visit(mara, `/posts/${post}`);
  await fullScreen(mara).click();
  await viewer(mara)
    .getByRole('button', { name: /^Comments/ })
    .click();
  await viewer(mara).getByRole('button', { name: 'Next' }).click();
  await draw(mara, 'Waves', 'Follow the wave');
  await viewer(mara).getByRole('button', { name: 'Next' }).click();
  await draw(mara, 'Report', '');

  // What was drawn on the phone is at the same place on the desk.
  await mara.goto(`/posts/${post}`);
  const thread = mara.getByRole('list', { name: 'Comments' });
  for (const [place, title] of [
    ['Area', 'Buoy'],
    ['0:00.0', 'Waves'],
    ['Page 1', 'Report'],
  ] as const) {
    await thread.getByRole('button', { name: `Show the place: ${place}, with a drawing` }).click();
    await viewer(mara).getByRole('heading', { name: title }).waitFor();
    const shares = () =>
      drawing(mara).evaluate((picture) => {
        const whole = picture.getBoundingClientRect();
        const line = picture.querySelector('path')?.getBoundingClientRect() ?? new DOMRect();
        const across = (x: number) => (x - whole.left) / whole.width;
        const down = (y: number) => (y - whole.top) / whole.height;
        return [across(line.left), down(line.top), across(line.right), down(line.bottom)];
      });
    const drawn = [0.2, 0.1, 0.6, 0.2].map((share) => expect.closeTo(share, 1));
    await expect.poll(shares).toEqual(drawn);
    // ANNOTATION-20
    await panel(mara).getByRole('button', { name: 'Export the comments' }).click();
    const exported = mara.getByRole('menuitem', { name: 'Selected drawing (PNG)' });
    const flattened = await mara.request.get((await exported.getAttribute('href')) ?? '');
    expect([flattened.status(), flattened.headers()['content-type']]).toEqual([200, 'image/png']);
    await mara.keyboard.press('Escape');
    await exported.waitFor({ state: 'detached' });
    await mara.keyboard.press('Escape');
    await mara.keyboard.press('Escape');
    await viewer(mara).waitFor({ state: 'detached' });
  }
});
