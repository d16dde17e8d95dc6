import type { BrowserContext, Page } from 'playwright-core';
import { type Measured, measureFrames, openPageWork, printFrames } from '../page-work.ts';
import type { AnnotatedPost, Scene } from './library.ts';

/** Milliseconds for which the film plays. */
const PLAYED_MS = 6000;
const TURNS = 80;
/** At 60 frames a second, in milliseconds. */
const FRAME_MS = 1000 / 60;

/** Opens the file of a post in the viewer, and waits until all of its annotations are there. */
async function openViewer(context: BrowserContext, { id, annotations }: AnnotatedPost): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`/posts/${id}`);
  await page.getByRole('button', { name: 'Full screen' }).first().click();
  const name = annotations === 0 ? 'Comments' : `Comments, ${annotations} open`;
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).waitFor();
  return page;
}

/** Turns the wheel over the middle of the picture, in and out. */
async function turnWheel(page: Page): Promise<void> {
  await page.mouse.move(720, 450);
  const scale = page.getByRole('dialog').getByText(/^\d+%$/);
  const before = await scale.textContent();
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === 10 && (await scale.textContent()) === before) throw new Error('the wheel does not zoom');
    await page.mouse.wheel(0, turn % 20 < 10 ? -100 : 100);
    await page.waitForTimeout(50);
  }
}

async function zoomPicture(context: BrowserContext, post: AnnotatedPost): Promise<Measured> {
  const page = await openViewer(context, post);
  await page.locator('.openseadragon-canvas').waitFor();
  const session = await openPageWork(page);
  await turnWheel(page);
  const measured = await measureFrames(page, session, () => turnWheel(page));
  await page.close();
  return measured;
}

/** Frames of the film that the browser showed and left out. */
interface Played {
  shown: number;
  dropped: number;
}

async function playFilm(context: BrowserContext, post: AnnotatedPost): Promise<Measured & Played> {
  const page = await openViewer(context, post);
  const session = await openPageWork(page);
  const film = page.getByRole('dialog').locator('video');
  await film.evaluate(async (video) => {
    if (!(video instanceof HTMLVideoElement)) throw new Error('there is no film');
    video.muted = true;
    video.loop = true;
    await video.play();
  });
  await page.waitForTimeout(1000);
  const quality = () =>
    film.evaluate((video) => {
      if (!(video instanceof HTMLVideoElement)) throw new Error('there is no film');
      const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
      return { total: totalVideoFrames, dropped: droppedVideoFrames };
    });
  const before = await quality();
  const measured = await measureFrames(page, session, () => page.waitForTimeout(PLAYED_MS));
  const after = await quality();
  const dropped = after.dropped - before.dropped;
  await page.close();
  return { ...measured, dropped, shown: after.total - before.total - dropped };
}

/** Measures frames while a picture is zoomed and a film plays in the viewer, without annotations and with 500. */
export async function benchViewer({ picture, film }: Scene, context: BrowserContext): Promise<void> {
  console.log(`  (60 frames a second leave ${FRAME_MS.toFixed(1)} ms for each)`);
  for (const post of [picture.without, picture.some])
    printFrames(`zooming with ${post.annotations}`, await zoomPicture(context, post));
  for (const post of [film.without, film.some]) {
    const played = await playFilm(context, post);
    printFrames(`playing with ${post.annotations}`, played);
    console.log(`    frames of the film: ${played.shown} shown, ${played.dropped} dropped`);
  }
}
