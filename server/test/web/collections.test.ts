import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection } from '@vitrine/contract/collections';
import type { Post, PostCreate } from '@vitrine/contract/posts';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

const password = 'a long password';
const names = ['Pier', 'Gull', 'Rope', 'Crane', 'Fog'] as const;

let directory: string;
let service: ServiceProcess;
let browser: Browser;
/** Ana collects, Ben is shown what she collected, Mara administers. */
let ana: Page;
let ben: Page;
let mara: Page;
const assets = new Map<string, string>();
const posts = new Map<string, string>();
const faults: string[] = [];

async function openPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  return page;
}

async function signedIn(username: string): Promise<Page> {
  const page = await openPage();
  await page.goto(`${service.address}/sign-in`);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
  return page;
}

/** Calls the service as the page's session; the answer's JSON, undefined where it says nothing. */
async function call(page: Page, method: string, path: string, body?: unknown) {
  const { status, text } = await callFrom(page, method, path, body);
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

async function upload(page: Page, title: string, seed: number): Promise<string> {
  const answer = await page.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: {
      title,
      file: {
        name: `${seed}.jpg`,
        mimeType: 'image/jpeg',
        buffer: Buffer.from(
          await jpeg(...(seed % 2 === 0 ? ([600, 900] as const) : ([900, 600] as const)), { seed }),
        ),
      },
    },
  });
  expect(answer.status()).toBe(201);
  const { id } = await answer.json();
  await expect
    .poll(async () => (await call(page, 'GET', `/assets/${id}`)).processing_status, { timeout: 30_000 })
    .toBe('ready');
  return id;
}

async function makePost(title: string, given: Partial<PostCreate> = {}): Promise<string> {
  const members = [{ asset_id: assets.get(title) ?? '' }];
  return (await call(ana, 'POST', '/posts', { title, members, ...given })).id;
}

const postId = (title: string): string => posts.get(title) ?? '';

async function read(page: Page, id: string): Promise<Collection> {
  return call(page, 'GET', `/collections/${id}`);
}

/** The titles of the posts of a collection as the service has them for this page's session. */
async function titlesIn(page: Page, id: string): Promise<string[]> {
  const { items }: { items: Post[] } = await call(page, 'GET', `/collections/${id}/posts`);
  return items.map((post) => post.title);
}

async function makeCollection(name: string, titles: readonly string[], given = {}): Promise<string> {
  const { id } = await call(ana, 'POST', '/collections', { name, ...given });
  for (const title of titles) await call(ana, 'PUT', `/collections/${id}/posts/${postId(title)}`);
  return id;
}

async function openCollection(page: Page, id: string, search = ''): Promise<void> {
  await page.goto(`${service.address}/collections/${id}${search}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** The titles of the tiles that are arranged, in the order they are shown. */
async function shownTitles(page: Page): Promise<string[]> {
  const ids = await page
    .locator('[data-arranged]')
    .evaluateAll((tiles) =>
      tiles.map((tile) => (tile instanceof HTMLElement ? tile.dataset.arranged : undefined)),
    );
  return ids.map((id) => names.find((name) => posts.get(name) === id) ?? '?');
}

async function middleOf(locator: Locator): Promise<{ x: number; y: number }> {
  await locator.scrollIntoViewIfNeeded();
  const box = await locator.boundingBox();
  if (box === null) throw new Error('it is not in the page');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const tileOf = (page: Page, title: string) =>
  page.locator(`[data-arranged="${postId(title)}"] > div > div`).first();
const saveButton = (page: Page, title: string) =>
  page.getByRole('button', { name: `Save ${title} to a collection` });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-collections-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: password,
  });
  browser = await openBrowser();
  mara = await signedIn('mara');
  for (const [username, fullname] of [
    ['ana', 'Ana Sol'],
    ['ben', 'Ben Iyer'],
  ]) {
    await call(mara, 'POST', '/admin/users', { username, password, role: 'member', fullname });
  }
  ana = await signedIn('ana');
  ben = await signedIn('ben');
  for (const [at, name] of names.entries()) {
    assets.set(name, await upload(ana, name, at + 1));
    posts.set(name, await makePost(name));
  }
}, 180_000);

afterAll(async () => {
  await browser?.close();
  service?.child.kill('SIGTERM');
  expect(await service?.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('a collection is made, filled from the feed and from a post, and found among one’s own', async () => {
  await ana.goto(service.address);
  await ana.getByRole('button', { name: 'Account', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Collections' }).click();
  await ana.getByText('No collections yet').waitFor();
  await ana.getByRole('button', { name: 'New collection' }).click();
  const dialog = ana.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Harbour');
  await dialog.getByLabel('Description').fill('What the tide left');
  await dialog.getByRole('radio', { name: /^Only the owner/ }).check();
  await dialog.getByRole('button', { name: 'Create collection' }).click();
  await ana.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  await ana.getByText('Nothing in it yet').waitFor();
  const id = new URL(ana.url()).pathname.split('/').at(-1) ?? '';
  expect(await read(ana, id)).toMatchObject({ description: 'What the tide left', visibility: 'private' });

  // From a card of the feed, by keyboard; the button that opened the dialog has the focus again.
  await ana.getByRole('link', { name: 'To the feed' }).click();
  await saveButton(ana, 'Gull').focus();
  await ana.keyboard.press('Enter');
  await dialog.getByRole('checkbox', { name: /Harbour/ }).waitFor();
  expect(await dialog.getByRole('checkbox', { name: /Harbour/ }).isChecked()).toBe(false);
  await dialog.getByRole('checkbox', { name: /Harbour/ }).press('Space');
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Gull']);
  await ana.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await expect
    .poll(() => saveButton(ana, 'Gull').evaluate((one) => one === document.activeElement))
    .toBe(true);

  // From the post's page; it is checked where it is in already, and unchecking takes it out.
  await ana.goto(`${service.address}/posts/${postId('Pier')}`);
  await saveButton(ana, 'Pier').click();
  await dialog.getByRole('checkbox', { name: /Harbour/ }).check();
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Gull', 'Pier']);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await ana.goto(`${service.address}/posts/${postId('Gull')}`);
  await saveButton(ana, 'Gull').click();
  await expect.poll(() => dialog.getByRole('checkbox', { name: /Harbour/ }).isChecked()).toBe(true);
  await dialog.getByRole('checkbox', { name: /Harbour/ }).uncheck();
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Pier']);

  // One made in place has the post, and is checked at once.
  await dialog.getByRole('button', { name: 'New collection' }).click();
  await dialog.getByLabel('Name of the new collection').fill('Birds');
  await dialog.getByRole('button', { name: 'Create and save' }).click();
  await expect.poll(() => dialog.getByRole('checkbox', { name: /Birds/ }).isChecked()).toBe(true);
  await dialog.getByRole('button', { name: 'Done' }).click();

  await ana.goto(`${service.address}/collections`);
  const cards = ana.getByRole('list', { name: 'Collections' });
  await cards.getByRole('link', { name: /Birds.*1 post/ }).waitFor();
  await cards.getByRole('link', { name: /Harbour.*1 post.*Only the owner/ }).waitFor();
  const picture = cards.getByRole('link', { name: /Harbour/ }).locator('img');
  await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBeGreaterThan(0);

  // Somebody else is shown the one that is for everyone, and no way to change it.
  await ben.goto(`${service.address}/collections`);
  await ben.getByText('No collections yet').waitFor();
  await ben.getByRole('link', { name: 'Everybody’s' }).click();
  await ben.getByRole('link', { name: /Birds.*by Ana Sol/ }).click();
  await ben.getByRole('heading', { name: 'Birds', level: 1 }).waitFor();
  await ben.getByRole('link', { name: /^Gull/ }).waitFor();
  expect(await ben.getByRole('button', { name: /^(Edit|Cover|Share|Delete)$/ }).count()).toBe(0);
  await ben.goto(`${service.address}/collections/${id}`);
  await ben.getByText('This collection is not here').waitFor();
  expect(faults).toEqual([]);
}, 60_000);

test('the order is set by pointer, by finger and by keyboard, also when the answers are slow', async () => {
  const id = await makeCollection('Walk', names);
  await openCollection(ana, id);
  await ana.getByRole('link', { name: 'Arrange' }).click();
  await tileOf(ana, 'Fog').waitFor();
  expect(await shownTitles(ana)).toEqual([...names]);

  // By pointer: the last before the first. Escape puts it back, and nothing is sent.
  await ana.waitForTimeout(300);
  const [from, to] = [await middleOf(tileOf(ana, 'Fog')), await middleOf(tileOf(ana, 'Pier'))];
  await ana.mouse.move(from.x, from.y);
  await ana.mouse.down();
  await ana.mouse.move(to.x, to.y, { steps: 6 });
  expect(await shownTitles(ana)).toEqual(['Fog', 'Pier', 'Gull', 'Rope', 'Crane']);
  await ana.keyboard.press('Escape');
  await ana.mouse.up();
  expect(await shownTitles(ana)).toEqual([...names]);
  await ana.waitForTimeout(300);
  await ana.mouse.move(from.x, from.y);
  await ana.mouse.down();
  await ana.mouse.move(to.x, to.y, { steps: 6 });
  await ana.mouse.up();
  await ana.getByText('Saved.', { exact: true }).waitFor();
  expect(await titlesIn(ana, id)).toEqual(['Fog', 'Pier', 'Gull', 'Rope', 'Crane']);

  // By keyboard, faster than the answers come: all of it shows at once and all of it arrives.
  await ana.route('**/order', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
  const on = ana.getByRole('button', { name: 'Move Fog on' });
  await on.focus();
  await ana.keyboard.press('Enter');
  await ana.keyboard.press('Enter');
  await ana.keyboard.press('Enter');
  await ana.getByRole('button', { name: 'Move Crane back' }).click();
  expect(await shownTitles(ana)).toEqual(['Pier', 'Gull', 'Rope', 'Crane', 'Fog']);
  await ana.getByText('Saving…', { exact: true }).waitFor();
  await ana.getByText('Saved.', { exact: true }).waitFor();
  expect(await titlesIn(ana, id)).toEqual(['Pier', 'Gull', 'Rope', 'Crane', 'Fog']);
  expect(await shownTitles(ana)).toEqual(['Pier', 'Gull', 'Rope', 'Crane', 'Fog']);

  // Taken out while the move before it is still on its way.
  await ana.getByRole('button', { name: 'Move Gull back' }).click();
  await ana.getByRole('button', { name: 'Remove Pier' }).click();
  expect(await shownTitles(ana)).toEqual(['Gull', 'Rope', 'Crane', 'Fog']);
  await ana.getByText('Saved.', { exact: true }).waitFor();
  expect(await titlesIn(ana, id)).toEqual(['Gull', 'Rope', 'Crane', 'Fog']);
  await ana.unroute('**/order');

  // What somebody else did meanwhile shows after the next step, and both hold.
  await call(mara, 'DELETE', `/collections/${id}/posts/${postId('Rope')}`);
  await ana.getByRole('button', { name: 'Move Fog back' }).click();
  await expect.poll(() => shownTitles(ana)).toEqual(['Gull', 'Fog', 'Crane']);
  expect(await titlesIn(ana, id)).toEqual(['Gull', 'Fog', 'Crane']);

  // A post that somebody else took out cannot be moved: that is told, and the list is as it is there.
  await call(mara, 'DELETE', `/collections/${id}/posts/${postId('Crane')}`);
  await ana.getByRole('button', { name: 'Move Crane back' }).click();
  await ana.getByRole('alert').getByText('Somebody else changed this collection meanwhile').waitFor();
  await expect.poll(() => shownTitles(ana)).toEqual(['Gull', 'Fog']);

  // By finger, at the handle.
  const phone = await signedIn('ana');
  await phone.setViewportSize({ width: 375, height: 720 });
  await openCollection(phone, id, '?show=order');
  const handle = await middleOf(phone.locator(`[data-arranged="${postId('Fog')}"] [data-handle]`));
  const onto = await middleOf(tileOf(phone, 'Gull'));
  const touch = await phone.context().newCDPSession(phone);
  const at = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]) =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  await at('touchStart', [handle]);
  await at('touchMove', [{ x: (handle.x + onto.x) / 2, y: (handle.y + onto.y) / 2 }]);
  await at('touchMove', [onto]);
  await at('touchEnd', []);
  await phone.getByText('Saved.', { exact: true }).waitFor();
  expect(await titlesIn(phone, id)).toEqual(['Fog', 'Gull']);
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
  await phone.context().close();
  expect(faults).toEqual([]);
}, 60_000);
