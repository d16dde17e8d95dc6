import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg, png } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let mara: Page;
const faults: string[] = [];

async function openPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
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

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-teams-'));
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
  await call(mara, 'POST', '/admin/users', {
    username: 'otto',
    password: 'another password',
    fullname: 'Otto Brandt',
    role: 'member',
  });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  service?.child.kill('SIGTERM');
  expect(await service?.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.goto(`${service.address}/sign-in`);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
}

async function make(name: string): Promise<string> {
  await mara.goto(`${service.address}/teams`);
  await mara.getByRole('button', { name: 'New team' }).click();
  const form = mara.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByLabel('Description').fill(`What ${name} does`);
  await form.getByRole('button', { name: 'Create team' }).click();
  await mara.getByRole('heading', { name, level: 1 }).waitFor();
  return new URL(mara.url()).pathname.split('/').at(-1) ?? '';
}

test('a team is made, followed, joined, posted to, pictured, put below another and closed', async () => {
  const all = await make('All of the studio');
  const harbour = await make('Harbour');
  const form = mara.getByRole('dialog');
  const confirmation = mara.getByRole('alertdialog');

  // A slug that is taken is told in the service's words; a change shows at once.
  await mara.getByRole('button', { name: 'Edit', exact: true }).click();
  await form.getByLabel('Short name').fill('all-of-the-studio');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('That slug is taken.').waitFor();
  await form.getByLabel('Short name').fill('harbour-2');
  await form.getByLabel('Description').fill('Boats and piers');
  await form.getByRole('button', { name: 'Save' }).click();
  await mara.getByText('Boats and piers').waitFor();

  // Followed, and so in the directory and after a reload.
  await mara.getByRole('button', { name: 'Follow', exact: true }).click();
  await mara.getByRole('button', { name: 'Unfollow' }).waitFor();
  expect(await call(mara, 'GET', '/auth/me/followed-teams')).toMatchObject([{ id: harbour }]);
  await mara.reload();
  await mara.getByRole('button', { name: 'Unfollow' }).waitFor();

  // Put below another; the other way round would be a circle.
  await mara.getByRole('button', { name: 'Put below a team' }).click();
  await form.getByRole('radio', { name: 'All of the studio' }).check();
  await form.getByRole('button', { name: 'Put below' }).click();
  const above = mara.getByRole('list', { name: 'Teams above' });
  await above.getByRole('link', { name: 'All of the studio' }).click();
  await mara.waitForURL(`${service.address}/teams/${all}`);
  await mara.getByRole('heading', { name: 'All of the studio', level: 1 }).waitFor();
  await mara.getByRole('button', { name: 'Put below a team' }).click();
  await form.getByRole('radio', { name: 'Harbour' }).check();
  await form.getByRole('button', { name: 'Put below' }).click();
  await form.getByText('Teams would form a circle.').waitFor();
  await mara.keyboard.press('Escape');

  // A member by name; a name nobody has is told.
  await mara.goto(`${service.address}/teams/${harbour}?show=members`);
  await mara.getByText('Nobody is a member yet.').waitFor();
  await mara.getByLabel('Add a member').fill('nobody');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  await mara.getByText('There is no account named “nobody”.').waitFor();
  await mara.getByLabel('Add a member').fill('otto');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  await mara.getByRole('list', { name: 'Members' }).getByRole('link', { name: 'Otto Brandt' }).waitFor();

  // What the member posts to the team is in its channel, and a public asset of it can be its picture.
  const otto = await openPage();
  await signIn(otto, 'otto', 'another password');
  const uploaded = await otto.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: {
      title: 'Pier',
      team_id: harbour,
      file: { name: 'p.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(900, 600)) },
    },
  });
  expect(uploaded.status()).toBe(201);
  const asset: { id: string } = await uploaded.json();
  await expect
    .poll(async () => (await call(otto, 'GET', `/assets/${asset.id}`)).processing_status, { timeout: 30_000 })
    .toBe('ready');
  await call(otto, 'POST', '/posts', {
    title: 'Early at the pier',
    members: [{ asset_id: asset.id }],
    team_id: harbour,
  });
  await mara.getByRole('navigation', { name: 'Of the team' }).getByRole('link', { name: 'Posts' }).click();
  await mara.getByRole('link', { name: /Early at the pier/ }).waitFor();
  await mara.getByRole('button', { name: 'Picture', exact: true }).click();
  await form.getByRole('button', { name: 'Pier' }).click();
  await form.waitFor({ state: 'hidden' });
  const hero = mara.locator(`#main img[src*="${asset.id}/variants/col"][alt=""]`).first();
  await expect.poll(() => hero.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);

  // The directory counts, shows and finds it.
  await mara.goto(`${service.address}/teams`);
  const card = mara.getByRole('list', { name: 'Teams' }).getByRole('link', { name: /Harbour/ });
  await card.getByText('1 member · 1 asset').waitFor();
  await card.getByText('Following').waitFor();
  await mara.getByLabel('Search teams').fill('all of');
  await mara.waitForURL(/\?q=all/);
  await card.waitFor({ state: 'detached' });

  // A member without the right sees no way to change it, but may leave; others stay where they are.
  await otto.goto(`${service.address}/teams/${harbour}?show=members`);
  await otto.getByRole('button', { name: 'Leave' }).waitFor();
  expect(await otto.getByRole('button', { name: /Edit|Picture|Put below|Close|Add/ }).count()).toBe(0);
  await otto.getByRole('button', { name: 'Leave' }).click();
  await otto.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
  await otto.getByText('Nobody is a member yet.').waitFor();

  // Taken away from below the other, and closed.
  await mara.goto(`${service.address}/teams/${harbour}`);
  await mara.getByRole('button', { name: 'Take away from below All of the studio' }).click();
  await confirmation.getByRole('button', { name: 'Take away' }).click();
  await above.waitFor({ state: 'detached' });
  await mara.getByRole('button', { name: 'Close team' }).click();
  await confirmation.getByRole('button', { name: 'Close team' }).click();
  await mara.waitForURL(`${service.address}/teams`);
  await mara.getByRole('link', { name: /All of the studio/ }).waitFor();
  expect(await mara.getByRole('link', { name: /Harbour/ }).count()).toBe(0);
  await otto.goto(`${service.address}/teams/${harbour}`);
  await otto.getByText('There is no such team').waitFor();
  expect(faults).toEqual([]);
}, 120_000);

test('a logo is tried, used, seen by everybody, taken back and used again; fonts and name reach the page', async () => {
  const visitor = await openPage();
  await mara.goto(`${service.address}/admin/appearance`);
  const header = mara.getByRole('banner');
  const preview = mara.getByRole('group', { name: 'Preview of the header' });
  const pick = mara.getByLabel('Choose a logo');
  const file = async (width: number, height: number) => ({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: Buffer.from(await png(width, height)),
  });

  // Seen before it is sent; one that breaks a rule is refused in words and changes nothing.
  await pick.setInputFiles(await file(12, 40));
  await expect.poll(() => preview.locator('img[src^="blob:"]').count()).toBe(2);
  expect(await header.locator('img[data-logo]').count()).toBe(0);
  await mara.getByRole('button', { name: 'Use this logo' }).click();
  await mara.getByRole('alert').filter({ hasText: '16' }).waitFor();
  await mara.getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => preview.locator('img').count()).toBe(0);

  await pick.setInputFiles(await file(240, 80));
  await mara.getByRole('button', { name: 'Use this logo' }).click();
  const logo = header.locator('img[data-logo]');
  await logo.waitFor();
  await expect.poll(() => logo.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(240);
  const box = await logo.boundingBox();
  expect(Math.round((box?.width ?? 0) / (box?.height ?? 1))).toBe(3);

  // Whoever is not signed in sees it too, in the fonts chosen and under the new name.
  await mara.getByLabel('Headings').selectOption('system-serif');
  await mara.getByLabel('Text', { exact: true }).selectOption('system-sans');
  const chosen = mara.waitForResponse(/\/admin\/system\/appearance$/);
  await mara.getByRole('button', { name: 'Save fonts' }).click();
  await chosen;
  await mara.goto(`${service.address}/admin/site`);
  await mara.getByLabel('Name of the library').fill('Studio South');
  await mara.getByLabel('Public address').fill('https://photos.example.org');
  await mara.getByRole('button', { name: 'Save', exact: true }).click();
  await header.getByText('Studio South').waitFor();
  await visitor.goto(`${service.address}/sign-in`);
  await visitor.locator('img[data-logo]').waitFor();
  const heading = visitor.getByRole('heading', { name: 'Sign in to Studio South' });
  await expect.poll(() => heading.evaluate((h) => getComputedStyle(h).fontFamily)).toMatch(/^ui-serif/);
  expect(await visitor.evaluate(() => getComputedStyle(document.body).fontFamily)).toMatch(/^ui-sans-serif/);

  // Back to the shipped mark, and the logo again from the recent ones.
  await mara.goto(`${service.address}/admin/appearance`);
  await mara.getByRole('button', { name: 'Use the Vitrine mark again' }).click();
  await header.locator('svg[data-logo]').waitFor();
  expect(await logo.count()).toBe(0);
  await mara.getByRole('button', { name: 'Use the logo of 240 × 80 again' }).click();
  await logo.waitFor();

  // One whose bytes are gone is said to be so, and cannot be chosen.
  await mara.getByRole('button', { name: 'Use the Vitrine mark again' }).click();
  await header.locator('svg[data-logo]').waitFor();
  const { logo_history } = await call(mara, 'GET', '/admin/system/appearance');
  const stored = await readdir(directory, { recursive: true });
  const bytes = stored.filter((name) => name.includes('logo') && name.endsWith(logo_history[0].hash));
  expect(bytes).toHaveLength(1);
  await rm(join(directory, bytes[0] ?? ''));
  await mara.reload();
  await mara.getByText('Unavailable: its file cannot be read').waitFor();
  expect(await mara.getByRole('button', { name: /Use the logo of/ }).count()).toBe(0);
  expect(faults).toEqual([]);
}, 120_000);
