import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mp4 } from '../media/tagged-files.ts';
import { png } from '../support/pictures.ts';
import { callFrom } from './call.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let page: Page;

beforeAll(async () => {
  studio = await openStudio();
  page = await studio.enter('mara');
});

afterAll(() => studio.close());

const rowsOf = (on: Page) => on.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');

async function tracksOf(id: string): Promise<string[]> {
  const { text } = await callFrom(page, 'GET', `/assets/${id}`);
  const { subtitle_tracks }: { subtitle_tracks: { lang: string }[] } = JSON.parse(text);
  return subtitle_tracks.map(({ lang }) => lang);
}

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
  await page.getByLabel('Choose files').setInputFiles(path);
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThan(0);
  const next = await page.context().newPage();
  await page.close();
  page = next;

  const begun: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/uploads')) begun.push(request.url());
  });
  await page.goto('/new');
  const left = page.getByRole('region', { name: 'Unfinished uploads' });
  await left.getByText('large.bin').waitFor();
  await page.getByLabel('Choose files').setInputFiles(path);
  await rowsOf(page).filter({ hasText: 'Uploaded' }).waitFor();
  expect(begun).toEqual([]);
  await left.waitFor({ state: 'hidden' });
  const { text } = await callFrom(page, 'GET', '/uploads');
  expect(JSON.parse(text).items).toEqual([]);
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
  const created: string[] = [];
  page.on('response', async (response) => {
    if (!response.url().endsWith('/api/v1/assets') || response.status() !== 201) return;
    const { id, asset_type }: { id: string; asset_type: number } = await response.json();
    if (asset_type === 3) created.push(id);
  });
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  const rows = rowsOf(page);
  await expect.poll(() => rows.count()).toBe(5);
  await expect.poll(() => rows.filter({ hasText: 'Uploaded' }).count(), { timeout: 30_000 }).toBe(5);
  await rows.filter({ hasText: 'Subtitles of movie.mp4' }).waitFor();
  await rows.filter({ hasText: 'This file is empty.' }).waitFor();
  await rows.filter({ hasText: 'Its name says JPG, but it is a PNG file.' }).waitFor();
  await rows.filter({ hasText: 'You have this file already' }).first().waitFor();
  expect(await tracksOf(created[0] ?? '')).toEqual(['de']);
  expect(studio.faults).toEqual([]);
});
