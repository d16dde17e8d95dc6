import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let page: Page;

beforeAll(async () => {
  studio = await openStudio();
  page = await studio.enter('mara');
});

afterAll(() => studio.close());

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
    // True when the browser is left to do what it does with a paste.
    return target.dispatchEvent(event);
  }, text);
}

test('pastes rich text into a field as text and a picture as a file', async () => {
  await page.goto('/new');
  const rows = page.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
  for (const label of ['Title', 'Description']) {
    await page.getByLabel(label, { exact: true }).focus();
    expect(await paste('Three mornings')).toBe(true);
  }
  await expect.poll(() => rows.count()).toBe(0);
  expect(await paste()).toBe(false);
  await rows.first().waitFor();
  await page.getByRole('heading', { name: 'New post' }).click();
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  expect(await paste('Three mornings')).toBe(false);
  await expect.poll(() => rows.count()).toBe(2);
  for (const _ of [1, 2])
    await page
      .getByRole('button', { name: /^Remove/ })
      .first()
      .click();
  await expect.poll(() => rows.count()).toBe(0);
  expect(studio.faults).toEqual([]);
});

test('refuses more than 200 files and sends none of them', async () => {
  const paths: string[] = [];
  const bytes = await jpeg(20, 20);
  for (let at = 0; at < 201; at += 1) {
    const path = join(studio.directory, `small ${at}.jpg`);
    await writeFile(path, bytes);
    paths.push(path);
  }
  const sent: string[] = [];
  const count = (request: { method(): string; url(): string }) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/v1/assets')) sent.push(request.url());
  };
  page.on('request', count);
  const picker = page.getByLabel('Choose files');
  const rows = page.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
  await picker.setInputFiles(paths);
  await page.getByText('at most 200 files, and you chose 201').waitFor();
  await expect.poll(() => rows.count()).toBe(0);
  expect(sent).toEqual([]);

  // A few go in, and the words are gone.
  await picker.setInputFiles(paths.slice(0, 3));
  await expect.poll(() => rows.filter({ hasText: 'Uploaded' }).count()).toBe(3);
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  expect(sent).toHaveLength(3);
  await picker.setInputFiles(paths.slice(0, 198));
  await page.getByText('It has 3 already, so there is room for 197, and you chose 198').waitFor();
  await expect.poll(() => rows.count()).toBe(3);
  expect(sent).toHaveLength(3);
  page.off('request', count);
  expect(studio.faults).toEqual([]);
});

test('uploads at most two files concurrently', async () => {
  await page.goto('/new');
  const paths: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const path = join(studio.directory, `one of five ${at}.jpg`);
    await writeFile(path, await jpeg(300, 200, { seed: 40 + at }));
    paths.push(path);
  }
  let under = 0;
  let most = 0;
  // Each is held back until it is let go, so that those sent together are seen together.
  const held: (() => void)[] = [];
  await page.route('**/api/v1/assets', async (route) => {
    under += 1;
    most = Math.max(most, under);
    await new Promise<void>((resolve) => held.push(resolve));
    under -= 1;
    await route.continue();
  });
  await page.getByLabel('Choose files').setInputFiles(paths);
  const rows = page.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
  for (let done = 1; done <= 5; done += 1) {
    await expect.poll(() => under).toBe(Math.min(2, 6 - done));
    held.shift()?.();
    await expect.poll(() => rows.filter({ hasText: 'Uploaded' }).count()).toBe(done);
  }
  expect(most).toBe(2);
  expect(studio.faults).toEqual([]);
});
