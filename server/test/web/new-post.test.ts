import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { mp4 } from '../media/tagged-files.ts';
import { jpeg, plainFile, png } from '../support/pictures.ts';
import { call, fileOf } from './call.ts';
import { naturalWidth, pathsAsked } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
let page = await studio.enter('mara');
await page.goto('/new');

const rows = () => page.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
const picker = () => page.getByLabel('Choose files');

/** Pastes into what has the focus, as the system's clipboard would: a picture, and the text beside it if any. */
function paste(text?: string): Promise<boolean> {
  return page.evaluate(async (text) => {
    const canvas = new OffscreenCanvas(8, 8);
    canvas.getContext('2d')?.fillRect(0, 0, 8, 8);
    const clipboard = new DataTransfer();
    if (text !== undefined) {
      clipboard.setData('text/plain', text);
      clipboard.setData('text/html', `<b>${text}</b>`);
    }
    clipboard.items.add(new File([await canvas.convertToBlob()], 'image.png', { type: 'image/png' }));
    const target = document.activeElement ?? document.body;
    const event = new ClipboardEvent('paste', { clipboardData: clipboard, bubbles: true, cancelable: true });
    // True if the default paste action was not prevented.
    return target.dispatchEvent(event);
  }, text);
}

test('pastes rich text into a field as text and a picture as a file', async () => {
  await page.getByLabel('Description', { exact: true }).focus();
  expect(await paste('Three mornings')).toBe(true);
  expect(await rows().count()).toBe(0);
  expect(await paste()).toBe(false);
  await rows().first().waitFor();
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  expect(await paste('Three mornings')).toBe(false);
  await expect.poll(() => rows().count()).toBe(2);
});

test('uploads at most two files concurrently, previews them, and refuses more than 200', async () => {
  await page.goto('/new');
  const plain = (at: number) => fileOf(`${at}.bin`, plainFile(`${at}`), 'application/octet-stream');
  const picture = fileOf('p.jpg', await jpeg(90, 60));
  // Delays each upload, so that concurrent ones can be counted.
  const held: (() => void)[] = [];
  let [under, sent] = [0, 0];
  await page.route('**/api/v1/assets', async (route) => {
    under += 1;
    sent += 1;
    await new Promise<void>((resolve) => held.push(resolve));
    under -= 1;
    await route.continue();
  });
  await picker().setInputFiles(Array.from({ length: 201 }, (_, at) => plain(at)));
  await page.getByText('at most 200 files, and you chose 201').waitFor();
  expect([await rows().count(), sent]).toEqual([0, 0]);

  await picker().setInputFiles([picture, plain(1), plain(2)]);
  await expect.poll(() => naturalWidth(page.locator('img[src^="blob:"]'))).toBe(90);
  for (let done = 1; done <= 3; done += 1) {
    await expect.poll(() => under).toBe(Math.min(2, 4 - done));
    held.shift()?.();
    await expect.poll(() => rows().filter({ hasText: 'Uploaded' }).count()).toBe(done);
  }
  await page.unrouteAll({ behavior: 'wait' });
});

test('resumes a large upload in another tab after losing the network and the page', async () => {
  const path = join(studio.directory, 'large.bin');
  await writeFile(path, randomBytes(9 * 1024 * 1024));
  await page.goto('/new');
  // The upload begins, but no bytes arrive.
  let tries = 0;
  await page.route('**/api/v1/uploads/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    tries += 1;
    await route.abort('connectionreset');
  });
  await picker().setInputFiles(path);
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThan(0);
  const next = await page.context().newPage();
  await page.close();
  page = next;

  const isBeginning = (one: Request) => one.method() === 'POST' && one.url().endsWith('/uploads');
  const begun = pathsAsked(page, isBeginning);
  await page.goto('/new');
  const left = page.getByRole('region', { name: 'Unfinished uploads' });
  await left.getByText('large.bin').waitFor();
  await picker().setInputFiles(path);
  await rows().filter({ hasText: 'Uploaded' }).waitFor();
  expect(begun).toEqual([]);
  await left.waitFor({ state: 'hidden' });
  expect((await call(page, 'GET', '/uploads')).items).toEqual([]);
});

test('uploads a folder with its subtitles and warns about unusual files', async () => {
  const folder = join(studio.directory, 'folder');
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, '.hidden'), 'x');
  await writeFile(join(folder, 'movie.de.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHallo\n');
  await writeFile(join(folder, 'inner', 'empty.txt'), '');
  await writeFile(join(folder, 'inner', 'picture.jpg'), await png(30, 20, 3));
  await writeFile(join(folder, 'inner', 'picture copy.png'), await png(30, 20, 3));
  await writeFile(join(folder, 'movie.mp4'), mp4(2));
  await page.goto('/new');
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await expect.poll(() => rows().filter({ hasText: 'Uploaded' }).count(), { timeout: 30_000 }).toBe(5);
  expect(await rows().count()).toBe(5);
  await rows().filter({ hasText: 'Subtitles of movie.mp4' }).waitFor();
  await rows().filter({ hasText: 'This file is empty.' }).waitFor();
  await rows().filter({ hasText: 'Its name says JPG, but it is a PNG file.' }).waitFor();
  await rows().filter({ hasText: 'You have this file already' }).first().waitFor();
  const { items } = await call(page, 'GET', '/assets?asset_type=3');
  expect(items).toMatchObject([{ subtitle_tracks: [{ lang: 'de' }] }]);
});

test('warns about a file with a wider audience and can restrict it to the post’s', async () => {
  await call(page, 'PATCH', '/admin/system/site', { default_sensitivity: 'public' });
  await page.goto('/new');
  await picker().setInputFiles(fileOf('tide.jpg', await jpeg(320, 200)));
  const warning = page.getByRole('region', { name: 'Files with a wider audience' });
  await warning.getByText('tide.jpg').waitFor();
  expect(await rows().textContent()).toContain('Everyone, including visitors');
  await page.getByLabel('Everyone, including visitors').check();
  await warning.waitFor({ state: 'detached' });
  await page.getByLabel('Only you').check();
  await warning.getByRole('button', { name: 'Let it follow the post' }).click();
  await warning.waitFor({ state: 'detached' });
  expect(await rows().textContent()).toContain('Only you, as the post');
  const [asset] = (await call(page, 'GET', '/assets?limit=1')).items;
  expect(asset.sensitivity).toBe('posts');
});
