import type { ResourceRequest } from '@vitrine/contract/requests';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, publish, settled, upload, uploadReady } from './call.ts';
import { visit } from './hands.ts';
import { openStudio } from './studio.ts';

/** Ana owns what Ben asks for; Mara administers. */

const row = (page: Page, hasText: string | RegExp) =>
  page.getByRole('list', { name: 'Requests' }).getByRole('listitem').filter({ hasText });

/** Returns the latest request of an account, as that account sees it. */
async function latest(page: Page): Promise<ResourceRequest> {
  const { items } = await call(page, 'GET', '/account/requests?limit=1');
  return items[0];
}

/** Asks for the asset whose page is open. */
async function ask(reason: string): Promise<void> {
  await ben.getByRole('button', { name: 'Request access' }).click();
  await ben.getByRole('dialog').getByLabel('Reason (optional)').fill(reason);
  await ben.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await ben.getByText('Requested. The owner decides.').waitFor();
}

const studio = await openStudio();
const mara = await studio.enter('mara');
const ana = await studio.join('ana', 'Ana Sol');
const ben = await studio.join('ben', 'Ben Lund');
const uploadAs = async (title: string, seed: number, sensitivity: string) =>
  uploadReady(ana, await jpeg(60, 40, { seed }), { title, sensitivity });
const plans = await uploadAs('Floor plans', 1, 'restricted');
const diary = await uploadAs('Diary', 2, 'restricted');
const letters = await uploadAs('Letters', 3, 'restricted');
const poster = await uploadAs('Poster', 4, 'public');

test('a withheld asset names its owner and has a request form, which shows the state afterwards', async () => {
  await ben.goto(`/assets/${plans}`);
  await ben.getByRole('heading', { name: 'Not shared with you' }).waitFor();
  await ben.getByText('It belongs to Ana Sol.').waitFor();
  expect(await ben.getByRole('main').innerText()).not.toContain('Floor plans');
  await ask('For the exhibition');
  const words = await ben.getByRole('main').innerText();
  expect(words).not.toMatch(/unlock|reveal|once|grant|approv|will see/i);
  await expect.poll(() => ben.getByRole('button', { name: 'Request access' }).count()).toBe(0);

  await ben.getByRole('button', { name: 'Account', exact: true }).click();
  await ben.getByRole('menuitem', { name: 'Requests' }).click();
  await ben.getByText('No requests for you.').waitFor();
  await ben.getByRole('link', { name: 'Your requests' }).click();
  const mine = row(ben, 'For the exhibition');
  await mine.getByText('Waiting. The owner decides.').waitFor();
  await mine.getByRole('link', { name: 'an asset of Ana Sol' }).waitFor();
  expect(await mine.innerText()).not.toContain('Floor plans');
  expect(await mine.getByRole('button').count()).toBe(0);
});

// REQUEST-19
test('the owner approves access until a time and the requester can open the file', async () => {
  await ana.goto('/');
  await ana.getByRole('button', { name: 'Account', exact: true }).click();
  await ana.getByRole('menuitem', { name: 'Requests 1 waiting' }).click();
  const asked = row(ana, 'For the exhibition');
  await asked.getByRole('link', { name: '“Floor plans”' }).waitFor();
  await asked.getByRole('button', { name: /^Agree/ }).click();
  const dialog = ana.getByRole('dialog');
  await dialog.getByText('Records your consent. Ben Lund still cannot open the file.').waitFor();
  // Giving access for a month is what agreeing does unless another choice is made.
  expect(await dialog.getByRole('radio', { name: /^Agree and give access/ }).isChecked()).toBe(true);
  expect(await dialog.getByLabel('How long it lasts').inputValue()).toBe('30');
  await dialog.getByLabel('How long it lasts').selectOption('A year');
  await dialog.getByLabel('Reason (optional)').fill('Gladly');
  await dialog.getByRole('button', { name: 'Agree and share' }).click();
  await asked.getByText(/^Agreed to by you just now, until /).waitFor();
  await asked.getByText('Reason: “Gladly”').waitFor();
  await expect.poll(() => asked.getByRole('button').count()).toBe(0);

  const told = await latest(ben);
  expect(told).toMatchObject({ state: 'granted', decision_reason: 'Gladly' });
  const days = (Date.parse(told.grant_expires_at ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(365);

  await ben.reload();
  const agreed = row(ben, /Agreed to by Ana Sol .*, until .*You can open the file/s);
  await agreed.getByRole('link', { name: '“Floor plans”' }).click();
  await ben.getByRole('heading', { name: 'Floor plans', level: 1 }).waitFor();
});

// REQUEST-17
test('administrators find requests for files of others among those that they may decide', async () => {
  await call(ben, 'POST', `/assets/${letters}/request-access`, { reason: 'For the archive' });
  await visit(mara, '/requests');
  await row(mara, 'For the archive').getByRole('button', { name: /^Deny/ }).waitFor();
  const { id } = await latest(ben);
  await call(mara, 'POST', `/admin/requests/${id}/decide`, { decision: 'denied' });
});

// REQUEST-11
test('shows the reason of a denial to the requester and refuses a second decision', async () => {
  await call(ben, 'POST', `/assets/${letters}/request-access`, { reason: 'For the book' });
  const { id } = await latest(ben);
  await visit(ben, `/assets/${diary}`);
  await ask('Curious');
  await ana.goto('/requests');
  const [asked, second] = [row(ana, 'Curious'), row(ana, 'For the book')];
  const dialog = ana.getByRole('dialog');
  await second.getByRole('button', { name: /^Agree/ }).click();
  await call(mara, 'POST', `/admin/requests/${id}/decide`, { decision: 'denied' });
  await dialog.getByRole('button', { name: 'Agree and share' }).click();
  await dialog.getByText('It has already been decided; the list shows the outcome.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await second.getByText(/^Denied by mara /).waitFor();

  await asked.getByRole('button', { name: /^Deny/ }).click();
  await dialog.getByText('Ben Lund sees that it was denied, and may ask again.').waitFor();
  await dialog.getByLabel('Reason (optional)').fill('It is private');
  await dialog.getByRole('button', { name: 'Deny' }).click();
  await asked.getByText(/^Denied by you just now\.$/).waitFor();
  await visit(ben, '/requests?of=mine&state=denied');
  const told = row(ben, 'Curious');
  await told.getByText(/^Denied by Ana Sol /).waitFor();
  await told.getByText('Reason: “It is private”').waitFor();
});

test('granting an appeal against a deletion restores the asset', async () => {
  await call(mara, 'DELETE', `/assets/${poster}`, { reason: 'Out of date' });
  await visit(ana, '/trash');
  const item = ana.getByRole('list', { name: 'Deleted items' }).getByRole('listitem');
  await item.getByText('by mara').waitFor();
  expect(await item.getByRole('button', { name: /^Restore/ }).count()).toBe(0);
  await ana.getByRole('button', { name: /^Ask to restore/ }).click();
  await ana.getByRole('dialog').getByLabel('Reason (optional)').fill('It is this year’s');
  await ana.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await ana.getByText('Requested. The person who deleted it decides.').waitFor();
  await visit(ana, '/requests?of=mine');
  await row(ana, 'asked to restore').getByText('Waiting. The person who deleted it decides.').waitFor();

  const { id } = await latest(ana);
  await call(mara, 'POST', `/admin/requests/${id}/decide`, { decision: 'granted' });
  await ana.reload();
  const restored = row(ana, /Restored by mara /);
  await restored.getByRole('link', { name: '“Poster”' }).click();
  await ana.getByRole('heading', { name: 'Poster', level: 1 }).waitFor();
});

test('a damaged file in a post is not available to others, and cannot be requested', async () => {
  const bytes = await jpeg(60, 40, { seed: 5 });
  const damaged = (await upload(ana, bytes.subarray(0, Math.floor(bytes.length / 2)), { title: 'Torn' })).id;
  expect(await settled(ana, damaged)).toBe('failed');
  const post = await publish(ana, 'Torn and whole', [damaged, poster]);
  await visit(ben, `/posts/${post}`);
  await ben.getByText('Not available').waitFor();
  await ben.getByText('1 file of this post is not shown to you.').waitFor();
  expect(await ben.getByRole('button', { name: 'Request access' }).count()).toBe(0);
});
