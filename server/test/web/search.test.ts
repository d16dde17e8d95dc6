import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let mara: Page;
let harbour: string;
const faults: string[] = [];

async function openPage(width = 1280): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  return page;
}

/** Calls the service as the page's session; the answer's JSON, undefined where it says nothing. */
async function call(page: Page, method: string, path: string, body?: unknown) {
  const { status, text } = await callFrom(page, method, path, body);
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

async function upload(title: string, tags: string, shape: [number, number]): Promise<string> {
  const uploaded = await mara.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: {
      title,
      tags,
      file: { name: 'p.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(...shape)) },
    },
  });
  expect(uploaded.status()).toBe(201);
  const asset: { id: string } = await uploaded.json();
  return asset.id;
}

/** The values of a parameter in the page's address. */
const asked = (page: Page, name: string) => new URL(page.url()).searchParams.getAll(name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-search-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory);
  browser = await openBrowser();
  mara = await openPage();
  await mara.goto(service.address);
  await mara.getByLabel('Library name').fill('Studio North');
  await mara.getByLabel('Username').fill('mara');
  await mara.getByLabel('Password', { exact: true }).fill('a long password');
  await mara.getByLabel('Type it again').fill('a long password');
  await mara.getByRole('button', { name: 'Create library' }).click();
  await mara.getByRole('button', { name: 'Account', exact: true }).waitFor();
  const field = await call(mara, 'POST', '/fields', {
    code: 'year',
    label: 'Year',
    type: 'number',
    display_group: 'Origin',
  });
  await call(mara, 'PATCH', `/fields/${field.id}`, { show_in_advanced_search: true });
  const mood = await call(mara, 'POST', '/fields', {
    code: 'mood',
    label: 'Mood',
    type: 'select',
    display_group: 'Origin',
    options: {
      values: [
        { value: 'calm', label: 'Calm' },
        { value: 'wild', label: 'Wild' },
      ],
    },
  });
  await call(mara, 'PATCH', `/fields/${mood.id}`, { show_in_advanced_search: true });
  const mark = await call(mara, 'POST', '/fields', { code: 'shelf_mark', label: 'Shelf mark', type: 'text' });
  await call(mara, 'PATCH', `/fields/${mark.id}`, { show_in_advanced_search: false });
  harbour = await upload('Harbour at dawn', 'sea', [900, 600]);
  const night = await upload('Harbour at night', 'dark', [600, 900]);
  await upload('Meadow', 'green', [600, 600]);
  await call(mara, 'PUT', `/assets/${harbour}/fields/${field.id}`, { value_num: 1994 });
  await call(mara, 'PUT', `/assets/${night}/fields/${field.id}`, { value_num: 2011 });
  await call(mara, 'PUT', `/assets/${harbour}/fields/${mood.id}`, { value_text: 'calm' });
  const post = await call(mara, 'POST', '/posts', { title: 'Two boats', members: [{ asset_id: harbour }] });
  await call(mara, 'POST', `/posts/${post.id}/comments`, { body: 'What a quiet harbour' });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  service?.child.kill('SIGTERM');
  expect(await service?.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('the box suggests as one types, by keyboard alone, and asks in the address', async () => {
  await mara.goto(service.address);
  const box = mara.getByRole('combobox', { name: 'Search the library' });
  const options = mara.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
  await box.waitFor();
  await mara.keyboard.press('/');
  await expect.poll(() => box.evaluate((input) => input === document.activeElement)).toBe(true);
  expect(await box.inputValue()).toBe('');
  await box.pressSequentially('harb');
  await options.filter({ hasText: 'Harbour at dawn' }).waitFor();
  expect(await box.getAttribute('aria-expanded')).toBe('true');

  // Down to a suggestion, which is told as the active one; Enter opens it.
  await mara.keyboard.press('ArrowDown');
  const first = options.first();
  expect(await first.getAttribute('aria-selected')).toBe('true');
  expect(await box.getAttribute('aria-activedescendant')).toBe(await first.getAttribute('id'));
  const leads = await first.getAttribute('href');
  await mara.keyboard.press('Enter');
  await mara.waitForURL(`${service.address}${leads}`);

  // Control and K from anywhere; Escape closes the list and keeps the words; Enter asks with them.
  await mara.keyboard.press('Control+k');
  await box.fill('harbour');
  await options.filter({ hasText: 'Search for “harbour”' }).waitFor();
  await mara.keyboard.press('Escape');
  expect(await box.getAttribute('aria-expanded')).toBe('false');
  expect(await box.inputValue()).toBe('harbour');
  await mara.keyboard.press('Enter');
  await mara.waitForURL(`${service.address}/search?q=harbour`);
  await mara.getByRole('heading', { name: 'Results for “harbour”', level: 1 }).waitFor();
  expect(faults).toEqual([]);
}, 120_000);

test('results stand by kind with their counts, marked where the words are, and in the order asked for', async () => {
  await mara.goto(`${service.address}/search?q=harbour`);
  await mara.getByRole('status').filter({ hasText: '3 results' }).waitFor();
  const assets = mara.getByRole('region', { name: 'Assets' });
  await assets.getByRole('link', { name: 'Harbour at night' }).waitFor();
  expect(await assets.locator('mark').allInnerTexts()).toEqual(['Harbour', 'Harbour']);
  // A post that does not have the word in its title says where it is.
  const card = mara.getByRole('region', { name: 'Posts' }).locator('[data-match="comment"]');
  expect(await card.innerText()).toContain('Comment: What a quiet harbour');
  expect(await card.locator('mark').innerText()).toBe('harbour');

  const tabs = mara.getByRole('navigation', { name: 'Kinds of results' });
  await tabs.getByRole('link', { name: 'Assets 2' }).click();
  await mara.getByRole('status').filter({ hasText: '2 results' }).waitFor();
  expect(asked(mara, 'kind')).toEqual(['asset']);
  const names = () =>
    mara
      .getByRole('list', { name: 'Assets' })
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
  await mara.getByLabel('Order', { exact: true }).selectOption('Oldest first');
  await expect.poll(() => asked(mara, 'sort')).toEqual(['oldest']);
  await expect.poll(names).toEqual([expect.stringMatching(/dawn/), expect.stringMatching(/night/)]);
  await mara.getByLabel('Order', { exact: true }).selectOption('Newest first');
  await expect.poll(names).toEqual([expect.stringMatching(/night/), expect.stringMatching(/dawn/)]);
  await mara.goBack();
  await expect.poll(() => asked(mara, 'sort')).toEqual(['oldest']);

  // A facet narrows, its chip takes that back.
  await mara.getByRole('region', { name: 'Narrow by tags' }).getByRole('link', { name: /sea/ }).click();
  await mara.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  expect(asked(mara, 'tag')).toEqual(['sea']);
  await mara.getByRole('link', { name: 'Take away the filter #sea' }).click();
  await mara.getByRole('status').filter({ hasText: '2 results' }).waitFor();
  await mara.getByRole('region', { name: 'Narrow by mood' }).getByRole('link', { name: /Calm/ }).click();
  await mara.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  expect(asked(mara, 'filter')).toEqual(['field:mood=calm']);
  expect(faults).toEqual([]);
}, 120_000);

test('a misspelt word finds what is much like it and offers the right one; nothing at all says what to try', async () => {
  await mara.goto(`${service.address}/search?q=harbuor`);
  await mara.getByText('Nothing has exactly “harbuor”.').waitFor();
  await mara.getByRole('region', { name: 'Assets' }).getByRole('link', { name: 'Harbour at dawn' }).waitFor();
  await mara.getByRole('link', { name: 'harbour', exact: true }).click();
  await mara.waitForURL(/q=harbour/);
  await mara.getByRole('status').filter({ hasText: '3 results' }).waitFor();
  await mara.goto(`${service.address}/search?q=xylophone&kind=post&tag=sea`);
  await mara.getByRole('heading', { name: 'Nothing found for “xylophone”' }).waitFor();
  await mara.getByRole('link', { name: 'Look beyond posts' }).waitFor();
  await mara.goto(`${service.address}/search?filter=${encodeURIComponent('field:year=soon')}`);
  await mara.getByRole('alert').filter({ hasText: 'is not a number' }).waitFor();
  expect(faults).toEqual([]);
}, 120_000);

test('the advanced form draws every field by its type and writes what it asks into the address', async () => {
  await mara.goto(`${service.address}/search`);
  await mara.getByRole('button', { name: 'Advanced' }).click();
  const form = mara.getByRole('dialog');
  // spec 2.7 rule 5: drawn or not is all that flag decides.
  await form.locator('[data-field="mood"]').waitFor();
  expect(await form.locator('[data-field="shelf_mark"]').count()).toBe(0);
  await form.getByLabel('Words').fill('harbour');
  await form.getByLabel('Asset type').selectOption({ label: 'Image' });
  const year = form.locator('[data-field="year"]');
  await year.getByLabel('Year', { exact: true }).fill('1990');
  await year.getByLabel('Year, and').fill('1999');
  expect(await year.getByLabel('How to compare Year', { exact: true }).inputValue()).toBe('>=');
  await form.getByLabel('Mood').selectOption({ label: 'Calm' });
  await form.getByLabel('By', { exact: true }).fill('mar');
  await form.getByRole('button', { name: 'mara', exact: true }).click();
  await form.getByRole('button', { name: 'Search', exact: true }).click();
  await mara.getByRole('status').filter({ hasText: '1 result' }).waitFor();
  expect(asked(mara, 'filter').toSorted()).toEqual([
    'field:mood=calm',
    'field:year<=1999',
    'field:year>=1990',
  ]);
  expect([asked(mara, 'q'), asked(mara, 'type'), asked(mara, 'owner')]).toEqual([['harbour'], ['1'], ['1']]);
  const chips = mara.getByRole('list', { name: 'Filters' });
  await chips.getByText('Year at least 1990').waitFor();
  await chips.getByText('Mood is Calm').waitFor();

  // It opens again with what is asked, and what is emptied is asked no more.
  await mara.getByRole('button', { name: /Advanced/ }).click();
  expect(await year.getByLabel('Year, and').inputValue()).toBe('1999');
  await year.getByLabel('Year', { exact: true }).fill('');
  await year.getByLabel('Year, and').fill('');
  await form.getByRole('button', { name: 'Search', exact: true }).click();
  await expect.poll(() => asked(mara, 'filter')).toEqual(['field:mood=calm']);
  expect(faults).toEqual([]);
}, 120_000);

test('a search is saved, opened from the box and the page, renamed and deleted', async () => {
  await mara.goto(`${service.address}/search?q=harbour&kind=asset&tag=sea`);
  const form = mara.getByRole('dialog');
  await mara.getByRole('button', { name: 'Save search' }).click();
  await form.getByLabel('Name', { exact: true }).fill('Sea harbours');
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await mara.getByText('Saved as Sea harbours').waitFor();

  await mara.goto(`${service.address}/search`);
  await mara.getByRole('combobox').focus();
  await mara.getByRole('option', { name: /Sea harbours/ }).click();
  await mara.waitForURL(/q=harbour&kind=asset&tag=sea/);

  await mara.goto(`${service.address}/search`);
  await mara.getByRole('button', { name: 'Rename Sea harbours' }).click();
  await form.getByLabel('Name', { exact: true }).fill('By the sea');
  await form.getByRole('button', { name: 'Rename', exact: true }).click();
  const list = mara.getByRole('list', { name: 'Saved searches' });
  await list.getByRole('link', { name: /By the sea/ }).waitFor();
  await mara.getByRole('button', { name: 'Delete By the sea' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await mara.getByText('None yet.').waitFor();
  expect(await call(mara, 'GET', '/account/searches')).toEqual([]);
  expect(faults).toEqual([]);
}, 120_000);

test('on a phone the box comes over the header, and nothing is wider than the window', async () => {
  const phone = await openPage(375);
  await phone.context().addCookies(await mara.context().cookies());
  await phone.goto(service.address);
  const box = phone.getByRole('combobox', { name: 'Search the library' });
  expect(await box.isVisible()).toBe(false);
  await phone.getByRole('button', { name: 'Search', exact: true }).click();
  await expect.poll(() => box.evaluate((input) => input === document.activeElement)).toBe(true);
  expect((await box.boundingBox())?.width ?? 0).toBeGreaterThan(240);
  await box.fill('harbour');
  await phone.keyboard.press('Enter');
  await phone.getByRole('status').filter({ hasText: '3 results' }).waitFor();
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
  expect(faults).toEqual([]);
}, 120_000);
