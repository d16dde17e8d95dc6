import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../../server/test/support/browser.ts';
import { admin, openEmptyLibrary, signIn, uploadFile } from './empty-library.ts';
import { cacheDir } from './library.ts';
import { median } from './load.ts';

const run = promisify(execFile);

const ROUNDS = 3;
const CLIP_SECONDS = 6;

interface Film {
  name: string;
  path: string;
}

/**
 * The same film in a short and a long version, the long one with its index at the end and at the front. VP9, which
 * every Chromium plays.
 */
async function films(directory: string, gigabytes: number): Promise<Film[]> {
  // Encoded once and cached.
  const clip = join(cacheDir, 'film.mp4');
  const picture = `testsrc2=s=1280x720:r=30:d=${CLIP_SECONDS},noise=alls=30:allf=t`;
  const encoding = [
    '-c:v',
    'libvpx-vp9',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-b:v',
    '25M',
    '-g',
    '60',
  ];
  const sources = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', `sine=d=${CLIP_SECONDS}`];
  const isKept = await stat(clip).then(
    () => true,
    () => false,
  );
  if (!isKept) await run('ffmpeg', ['-v', 'error', ...sources, ...encoding, '-c:a', 'libopus', clip]);
  const times = Math.ceil((gigabytes * 1e9) / (await stat(clip)).size);
  const repeat = async (name: string, flags: string[]): Promise<Film> => {
    const path = join(directory, `${name.replaceAll(' ', '-')}.mp4`);
    const looped = ['-stream_loop', String(times - 1), '-i', clip, '-c', 'copy', ...flags, path];
    await run('ffmpeg', ['-v', 'error', ...looped]);
    return { name: `${name}, ${((await stat(path)).size / 1e9).toFixed(1)} GB`, path };
  };
  return [
    { name: 'short', path: clip },
    await repeat('index at the end', []),
    await repeat('index in front', ['-movflags', '+faststart']),
  ];
}

const uploadFilm = async (base: string, cookie: string, { path }: Film) =>
  uploadFile(base, cookie, await openAsBlob(path), 'film.mp4');

/**
 * Returns the milliseconds from the start of the navigation until a frame of the film is on the page, in a browser
 * without a cache.
 */
async function firstFrame(browser: Browser, base: string, cookie: string, id: string): Promise<number> {
  const context = await browser.newContext({ baseURL: base });
  try {
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url: base }]);
    const page = await context.newPage();
    await page.goto(`/assets/${id}`, { waitUntil: 'commit' });
    const video = await page.waitForSelector('video', { state: 'attached', timeout: 60_000 });
    return await video.evaluate(
      (element) =>
        new Promise<number>((resolve) => {
          if (!(element instanceof HTMLVideoElement)) throw new Error('no film on this page');
          element.requestVideoFrameCallback(() => resolve(performance.now()));
          element.muted = true;
          void element.play();
        }),
    );
  } finally {
    await context.close();
  }
}

/**
 * `bench first-frame`: measures the time from opening the page of a film to its first frame in Chromium, before its
 * streams for browsers exist. Needs the system's ffmpeg, a built web app and free disk space of five times the size.
 */
export async function benchFirstFrame(gigabytes: number): Promise<void> {
  const library = await openEmptyLibrary();
  const directory = await mkdtemp(join(cacheDir, 'films-'));
  const browser = await openBrowser();
  try {
    const base = library.service.address;
    const cookie = await signIn(base, admin);
    const stored = [];
    for (const film of await films(directory, gigabytes)) {
      stored.push({ name: film.name, id: await uploadFilm(base, cookie, film), times: [] as number[] });
    }
    for (const { id } of stored) await firstFrame(browser, base, cookie, id);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { id, times } of stored) times.push(await firstFrame(browser, base, cookie, id));
    for (const { name, times } of stored)
      console.log(
        `${name}: first frame after ${median(times).toFixed(0)} ms (${times.map(Math.round).join(', ')})`,
      );
  } finally {
    await browser.close();
    await rm(directory, { recursive: true, force: true });
    await library.close();
  }
}
