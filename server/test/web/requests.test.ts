import type { ResourceRequest } from '@vitrine/contract/requests';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, callFrom, uploadReady } from './call.ts';
import { overhang } from './hands.ts';
import { openStudio, password, type Studio } from './studio.ts';

let studio: Studio;
/** Ana owns what Ben asks for; Mara administers. */
let ana: Page;
let ben: Page;
let mara: Page;
let plans: string;
let diary: string;
let poster: string;

function row(page: Page, text: string | RegExp): Locator {
  return page.getByRole('list', { name: 'Requests' }).getByRole('listitem').filter({ hasText: text });
}

/** Returns the latest request of an account, as that account sees it. */
async function latest(page: Page): Promise<ResourceRequest> {
  const { items } = await call(page, 'GET', '/account/requests?limit=1');
  return items[0];
}

async function ask(id: string, reason: string): Promise<void> {
  await ben.goto(`/assets/${id}`);
  await ben.getByRole('button', { name: 'Request access' }).click();
  await ben.getByRole('dialog').getByLabel('Reason (optional)').fill(reason);
  await ben.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await ben.getByText('Requested. The owner decides.').waitFor();
}

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  for (const [username, fullname] of [
    ['ana', 'Ana Sol'],
    ['ben', 'Ben Lund'],
  ]) {
    await call(mara, 'POST', '/admin/users', { username, fullname, password, role: 'member' });
  }
  ana = await studio.enter('ana');
  ben = await studio.enter('ben');
  const upload = async (title: string, seed: number, sensitivity: string) =>
    uploadReady(ana, await jpeg(600, 400, { seed }), { title, sensitivity });
  plans = await upload('Floor plans', 1, 'restricted');
  diary = await upload('Diary', 2, 'restricted');
  poster = await upload('Poster', 3, 'public');
});

afterAll(() => studio.close());

test('shows the requester the state of a request after a reload', async () => {
  await ask(plans, 'For the exhibition');
  await ben.reload();
  await ben.getByText('Requested. The owner decides.').waitFor();
  await expect.poll(() => ben.getByRole('button', { name: 'Request access' }).count()).toBe(0);

  await ben.getByRole('button', { name: 'Account', exact: true }).click();
  await ben.getByRole('menuitem', { name: 'Requests' }).click();
  await ben.getByText('No requests for you.').waitFor();
  await expect.poll(() => ben.getByRole('link', { name: 'All', exact: true }).count()).toBe(0);
  await ben.getByRole('link', { name: 'Your requests' }).click();
  const mine = row(ben, 'For the exhibition');
  await mine.getByText('Waiting. The owner decides.').waitFor();
  await mine.getByRole('link', { name: 'an asset of Ana Sol' }).waitFor();
  await expect.poll(() => mine.innerText()).not.toContain('Floor plans');
  await expect.poll(() => mine.getByRole('button').count()).toBe(0);
});

// REQUEST-19
test('the owner approves access until a time and the requester can open the file', async () => {
  await ana.goto('/');
  await ana.getByRole('button', { name: 'Account', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Requests 1 waiting' }).click();
  const asked = row(ana, 'For the exhibition');
  await asked.getByRole('link', { name: '“Floor plans”' }).waitFor();
  await expect
    .poll(() => asked.getByRole('link', { name: 'Ben Lund' }).getAttribute('href'))
    .toBe('/users/ben');
  await asked.getByRole('button', { name: /^Agree/ }).click();
  const dialog = ana.getByRole('dialog');
  await dialog.getByText('Records your consent. Ben Lund still cannot open the file.').waitFor();
  await expect.poll(() => dialog.getByLabel('How long it lasts').count()).toBe(0);
  await dialog.getByRole('radio', { name: /^Agree and give access/ }).check();
  await dialog.getByLabel('How long it lasts').selectOption('A year');
  await dialog.getByLabel('Reason (optional)').fill('Gladly');
  await dialog.getByRole('button', { name: 'Agree' }).click();
  await asked.getByText(/^Agreed to by you just now, until /).waitFor();
  await asked.getByText('Reason: “Gladly”').waitFor();
  await expect.poll(() => asked.getByRole('button').count()).toBe(0);
  await expect
    .poll(() => ana.evaluate(() => document.activeElement?.textContent ?? ''))
    .toMatch(/^\s*Agreed to/);

  const told = await latest(ben);
  expect(told).toMatchObject({ state: 'granted', decision_reason: 'Gladly' });
  const days = (Date.parse(told.grant_expires_at ?? '') - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(360);
  expect(days).toBeLessThan(370);

  await ben.goto('/requests?of=mine');
  await row(ben, /Agreed to by Ana Sol .*, until .*You can open the file/s)
    .getByRole('link', { name: '“Floor plans”' })
    .click();
  await ben.getByRole('heading', { name: 'Floor plans', level: 1 }).waitFor();
  // REQUEST-11: without the share, the agreement opens nothing.
  expect((await callFrom(ana, 'DELETE', `/assets/${plans}/shares/${told.requester_user_ref}`)).status).toBe(
    204,
  );
  await ben.goto('/requests?of=mine');
  await row(ben, /Agreed to by Ana Sol .*, until .*does not unlock the file by itself/s).waitFor();
  await ben.goto(`/assets/${plans}`);
  await ben.getByRole('button', { name: 'Request access' }).waitFor();
  await ana.getByRole('button', { name: 'Account', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Requests', exact: true }).waitFor();
  await ana.keyboard.press('Escape');
});

// REQUEST-11
test('shows the reason of a denial to the requester and refuses a second decision', async () => {
  await ask(diary, 'Curious');
  const { id } = await latest(ben);
  await ana.goto('/requests?state=pending');
  const asked = row(ana, 'Curious');
  await asked.getByRole('button', { name: /^Deny/ }).click();
  const dialog = ana.getByRole('dialog');
  await expect.poll(() => dialog.getByLabel('How long it lasts').count()).toBe(0);
  await dialog.getByText('Ben Lund sees that it was denied, and may ask again.').waitFor();
  await dialog.getByLabel('Reason (optional)').fill('It is private');
  await dialog.getByRole('button', { name: 'Deny' }).click();
  await asked.getByText(/^Denied by you just now\.$/).waitFor();

  await ben.goto('/requests?of=mine&state=denied');
  const told = row(ben, 'Curious');
  await told.getByText(/^Denied by Ana Sol /).waitFor();
  await told.getByText('Reason: “It is private”').waitFor();
  await expect.poll(() => ben.getByRole('list', { name: 'Requests' }).getByRole('listitem').count()).toBe(1);

  await ask(diary, 'Asking again');
  const second = await latest(ben);
  expect(second.id).not.toBe(id);
  await ana.goto('/requests');
  await row(ana, 'Asking again')
    .getByRole('button', { name: /^Agree/ })
    .click();
  const elsewhere = await callFrom(mara, 'POST', `/admin/requests/${second.id}/decide`, {
    decision: 'denied',
  });
  expect(elsewhere.status).toBe(200);
  await dialog.getByRole('button', { name: 'Agree' }).click();
  await dialog.getByText('It has already been decided; the list shows the outcome.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await row(ana, 'Asking again')
    .getByText(/^Denied by mara /)
    .waitFor();
  await expect.poll(async () => (await latest(ben)).state).toBe('denied');
});

test('granting an appeal against a deletion restores the asset', async () => {
  const removed = await callFrom(mara, 'DELETE', `/assets/${poster}`, { reason: 'Out of date' });
  expect(removed.status).toBe(204);
  await ana.goto('/trash');
  await ana.getByRole('button', { name: /^Ask to restore/ }).click();
  await ana.getByRole('dialog').getByLabel('Reason (optional)').fill('It is this year’s');
  await ana.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await ana.getByText('Requested. The person who deleted it decides.').waitFor();
  await ana.goto('/requests?of=mine');
  await row(ana, 'asked to restore').getByText('Waiting. The person who deleted it decides.').waitFor();

  await mara.goto('/requests');
  const appeal = row(mara, 'It is this year’s');
  await appeal.getByRole('link', { name: '“Poster”' }).waitFor();
  await appeal.getByRole('button', { name: /^Grant/ }).click();
  const dialog = mara.getByRole('dialog');
  await dialog.getByText('Granting restores it for everyone who could see it before.').waitFor();
  await expect.poll(() => dialog.getByLabel('How long it lasts').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Grant' }).click();
  await appeal.getByText(/^Restored by you /).waitFor();
  await appeal.getByRole('link', { name: '“Poster”' }).click();
  await mara.getByRole('heading', { name: 'Poster', level: 1 }).waitFor();
  await expect.poll(async () => (await callFrom(ben, 'GET', `/assets/${poster}`)).status).toBe(200);

  await mara.goto('/requests?of=all');
  await row(mara, 'For the exhibition').waitFor();
  await expect.poll(() => mara.getByRole('list', { name: 'Requests' }).getByRole('listitem').count()).toBe(4);
});

test('visitors open a public asset in public mode and sign in to see requests', async () => {
  const visitor = await studio.openPage();
  await visitor.goto(`/assets/${poster}`);
  await visitor.waitForURL(/\/sign-in\?next=/);
  expect((await callFrom(mara, 'PUT', '/system/public-mode', { enabled: true })).status).toBe(200);
  await visitor.goto(`/assets/${poster}`);
  await visitor.getByRole('heading', { name: 'Poster', level: 1 }).waitFor();
  await visitor.goto('/requests');
  await visitor.waitForURL(/\/sign-in\?next=/);
  expect((await callFrom(mara, 'PUT', '/system/public-mode', { enabled: false })).status).toBe(200);
  await visitor.context().close();
});

test('no tab overflows a phone screen and no page throws', async () => {
  await mara.setViewportSize({ width: 375, height: 700 });
  for (const path of ['/requests', '/requests?of=mine', '/requests?of=all']) {
    await mara.goto(path);
    await mara.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await mara.waitForLoadState('networkidle');
    expect(await overhang(mara), path).toBe(0);
  }
  expect(studio.faults).toEqual([]);
});
