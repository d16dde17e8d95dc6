import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResourceRequest } from '@vitrine/contract/requests';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

const password = 'a long password';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
/** Ana owns what Ben asks for; Mara administers. */
let ana: Page;
let ben: Page;
let mara: Page;
let plans: string;
let diary: string;
let poster: string;
const faults: string[] = [];

async function openPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  return page;
}

async function enter(username: string): Promise<Page> {
  const page = await openPage();
  await page.goto(`${service.address}/sign-in`);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
  return page;
}

async function upload(page: Page, title: string, seed: number, sensitivity: string): Promise<string> {
  const buffer = Buffer.from(await jpeg(600, 400, { seed }));
  const answer = await page.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: { title, sensitivity, file: { name: `${seed}.jpg`, mimeType: 'image/jpeg', buffer } },
  });
  expect(answer.status()).toBe(201);
  const { id } = await answer.json();
  const status = async () =>
    JSON.parse((await callFrom(page, 'GET', `/assets/${id}`)).text).processing_status;
  await vi.waitFor(async () => expect(await status()).toBe('ready'), { timeout: 30_000, interval: 200 });
  return id;
}

function open(page: Page, path: string) {
  return page.goto(`${service.address}${path}`);
}

function row(page: Page, text: string | RegExp): Locator {
  return page.getByRole('list', { name: 'Requests' }).getByRole('listitem').filter({ hasText: text });
}

/** The latest request of somebody, as they are told it. */
async function latest(page: Page): Promise<ResourceRequest> {
  const { items } = JSON.parse((await callFrom(page, 'GET', '/account/requests?limit=1')).text);
  return items[0];
}

async function ask(id: string, reason: string): Promise<void> {
  await open(ben, `/assets/${id}`);
  await ben.getByRole('button', { name: 'Request access' }).click();
  await ben.getByRole('dialog').getByLabel('Reason (optional)').fill(reason);
  await ben.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await ben.getByText('Asked. The owner decides.').waitFor();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-requests-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: password,
  });
  browser = await openBrowser();
  mara = await enter('mara');
  for (const [username, fullname] of [
    ['ana', 'Ana Sol'],
    ['ben', 'Ben Lund'],
  ]) {
    const body = { username, fullname, password, role: 'member' };
    expect((await callFrom(mara, 'POST', '/admin/users', body)).status).toBe(201);
  }
  ana = await enter('ana');
  ben = await enter('ben');
  plans = await upload(ana, 'Floor plans', 1, 'restricted');
  diary = await upload(ana, 'Diary', 2, 'restricted');
  poster = await upload(ana, 'Poster', 3, 'public');
}, 120_000);

afterAll(async () => {
  await browser.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('what was asked is still known after a reload, and the asker sees where it stands', async () => {
  await ask(plans, 'For the exhibition');
  await ben.reload();
  await ben.getByText('Asked. The owner decides.').waitFor();
  expect(await ben.getByRole('button', { name: 'Request access' }).count()).toBe(0);

  await ben.getByRole('button', { name: 'Account', exact: true }).click();
  await ben.getByRole('menuitem', { name: 'Requests' }).click();
  await ben.getByText('Nobody has asked you for anything.').waitFor();
  expect(await ben.getByRole('link', { name: 'All', exact: true }).count()).toBe(0);
  await ben.getByRole('link', { name: 'Asked by you' }).click();
  const mine = row(ben, 'For the exhibition');
  await mine.getByText('Waiting. The owner decides.').waitFor();
  await mine.getByRole('link', { name: 'an asset of Ana Sol' }).waitFor();
  expect(await mine.innerText()).not.toContain('Floor plans');
  expect(await mine.getByRole('button').count()).toBe(0);
}, 60_000);

test('the owner is told in the menu and grants with an end; nothing says that it reveals the file', async () => {
  await open(ana, '/');
  await ana.getByRole('button', { name: 'Account', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Requests 1 waiting' }).click();
  const asked = row(ana, 'For the exhibition');
  await asked.getByRole('link', { name: '“Floor plans”' }).waitFor();
  expect(await asked.getByRole('link', { name: 'Ben Lund' }).getAttribute('href')).toBe('/users/ben');
  await asked.getByRole('button', { name: /^Grant/ }).click();
  const dialog = ana.getByRole('dialog');
  await dialog
    .getByText('Agreeing records your consent; it does not unlock the file by itself.', { exact: true })
    .waitFor();
  await dialog.getByLabel('How long it lasts').selectOption('A year');
  await dialog.getByLabel('Reason (optional)').fill('Gladly');
  await dialog.getByRole('button', { name: 'Grant' }).click();
  await asked.getByText(/^Agreed to by you just now, until /).waitFor();
  await asked.getByText('Reason: “Gladly”').waitFor();
  expect(await asked.getByRole('button').count()).toBe(0);
  await expect
    .poll(() => ana.evaluate(() => document.activeElement?.textContent ?? ''))
    .toMatch(/^\s*Agreed to/);

  const told = await latest(ben);
  expect(told).toMatchObject({ state: 'granted', decision_reason: 'Gladly' });
  const days = (Date.parse(told.grant_expires_at ?? '') - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(360);
  expect(days).toBeLessThan(370);

  await open(ben, '/requests?of=mine');
  await row(ben, /Agreed to by Ana Sol .*, until .*does not unlock the file by itself/s).waitFor();
  // spec 4.8 rules 3 and 4: the file is still kept back, and may be asked for again.
  await open(ben, `/assets/${plans}`);
  await ben.getByRole('button', { name: 'Request access' }).waitFor();
  await ana.getByRole('button', { name: 'Account', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Requests', exact: true }).waitFor();
  await ana.keyboard.press('Escape');
}, 60_000);

test('denied with a reason, which the asker reads; a decision that came second says so', async () => {
  await ask(diary, 'Curious');
  const { id } = await latest(ben);
  await open(ana, '/requests?state=pending');
  const asked = row(ana, 'Curious');
  await asked.getByRole('button', { name: /^Deny/ }).click();
  const dialog = ana.getByRole('dialog');
  expect(await dialog.getByLabel('How long it lasts').count()).toBe(0);
  await dialog.getByText('Ben Lund sees that it was denied, and may ask again.').waitFor();
  await dialog.getByLabel('Reason (optional)').fill('It is private');
  await dialog.getByRole('button', { name: 'Deny' }).click();
  await asked.getByText(/^Denied by you just now\.$/).waitFor();

  await open(ben, '/requests?of=mine&state=denied');
  const told = row(ben, 'Curious');
  await told.getByText(/^Denied by Ana Sol /).waitFor();
  await told.getByText('Reason: “It is private”').waitFor();
  expect(await ben.getByRole('list', { name: 'Requests' }).getByRole('listitem').count()).toBe(1);

  await ask(diary, 'Asking again');
  const second = await latest(ben);
  expect(second.id).not.toBe(id);
  await open(ana, '/requests');
  await row(ana, 'Asking again')
    .getByRole('button', { name: /^Grant/ })
    .click();
  const elsewhere = await callFrom(mara, 'POST', `/admin/requests/${second.id}/decide`, {
    decision: 'denied',
  });
  expect(elsewhere.status).toBe(200);
  await dialog.getByRole('button', { name: 'Grant' }).click();
  await dialog.getByText('Somebody decided it meanwhile; the list shows how.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await row(ana, 'Asking again')
    .getByText(/^Denied by mara /)
    .waitFor();
  expect((await latest(ben)).state).toBe('denied');
}, 60_000);

test('an appeal against a delete: granting it brings the asset back', async () => {
  const removed = await callFrom(mara, 'DELETE', `/assets/${poster}`, { reason: 'Out of date' });
  expect(removed.status).toBe(204);
  await open(ana, '/trash');
  await ana.getByRole('button', { name: /^Ask to restore/ }).click();
  await ana.getByRole('dialog').getByLabel('Reason (optional)').fill('It is this year’s');
  await ana.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await ana.getByText('Asked. Whoever deleted it decides.').waitFor();
  await open(ana, '/requests?of=mine');
  await row(ana, 'asked to bring back').getByText('Waiting. Whoever deleted it decides.').waitFor();

  await open(mara, '/requests');
  const appeal = row(mara, 'It is this year’s');
  await appeal.getByRole('link', { name: '“Poster”' }).waitFor();
  await appeal.getByRole('button', { name: /^Grant/ }).click();
  const dialog = mara.getByRole('dialog');
  await dialog.getByText('Granting restores it, for everybody who could see it before.').waitFor();
  expect(await dialog.getByLabel('How long it lasts').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Grant' }).click();
  await appeal.getByText(/^Restored by you /).waitFor();
  await appeal.getByRole('link', { name: '“Poster”' }).click();
  await mara.getByRole('heading', { name: 'Poster', level: 1 }).waitFor();
  expect((await callFrom(ben, 'GET', `/assets/${poster}`)).status).toBe(200);

  await open(mara, '/requests?of=all');
  await row(mara, 'For the exhibition').waitFor();
  expect(await mara.getByRole('list', { name: 'Requests' }).getByRole('listitem').count()).toBe(4);
}, 60_000);

test('visitors look at a public asset in public mode, and are asked to sign in for their requests', async () => {
  const visitor = await openPage();
  await open(visitor, `/assets/${poster}`);
  await visitor.waitForURL(/\/sign-in\?next=/);
  expect((await callFrom(mara, 'PUT', '/system/public-mode', { enabled: true })).status).toBe(200);
  await open(visitor, `/assets/${poster}`);
  await visitor.getByRole('heading', { name: 'Poster', level: 1 }).waitFor();
  await open(visitor, '/requests');
  await visitor.waitForURL(/\/sign-in\?next=/);
  expect((await callFrom(mara, 'PUT', '/system/public-mode', { enabled: false })).status).toBe(200);
  await visitor.context().close();
}, 60_000);

test('no tab is wider than a phone, and no page threw', async () => {
  await mara.setViewportSize({ width: 375, height: 700 });
  for (const path of ['/requests', '/requests?of=mine', '/requests?of=all']) {
    await open(mara, path);
    await mara.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await mara.waitForLoadState('networkidle');
    const over = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
    expect(await mara.evaluate(over), path).toBe(0);
  }
  expect(faults).toEqual([]);
}, 60_000);
