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
let otto: Page;
const faults: string[] = [];
const ids = new Map<string, string>();

async function openPage(): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    timezoneId: 'Asia/Kathmandu',
  });
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

async function addTeam(name: string): Promise<void> {
  ids.set(name, (await call(mara, 'POST', '/teams', { name })).id);
}

async function publish(title: string, team?: string): Promise<void> {
  const uploaded = await mara.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: {
      title,
      file: { name: 'p.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(900, 600)) },
    },
  });
  const asset: { id: string } = await uploaded.json();
  const team_id = team === undefined ? {} : { team_id: ids.get(team) };
  const post = await call(mara, 'POST', '/posts', { title, ...team_id, members: [{ asset_id: asset.id }] });
  ids.set(title, post.id);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-team-reach-'));
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
  const account = { username: 'otto', password: 'another password', fullname: 'Otto Brandt', role: 'member' };
  const { ref } = await call(mara, 'POST', '/admin/users', account);
  await call(mara, 'POST', '/admin/users', { username: 'zelda', fullname: 'Zelda Quint', role: 'member' });
  for (const name of ['Harbour', 'Piers', 'Hills']) await addTeam(name);
  await call(mara, 'PUT', `/teams/${ids.get('Piers')}/parents/${ids.get('Harbour')}`);
  for (const capability of ['teams.write', 'posts.admin'])
    await call(mara, 'POST', `/admin/users/${ref}/grants`, { capability, team_id: ids.get('Harbour') });
  await publish('Quay', 'Piers');
  await publish('Valley', 'Hills');
  await publish('Nowhere in particular');
  otto = await openPage();
  await otto.goto(`${service.address}/sign-in`);
  await otto.getByLabel('Username').fill('otto');
  await otto.getByLabel('Password', { exact: true }).fill('another password');
  await otto.getByRole('button', { name: 'Sign in' }).click();
  await otto.waitForURL((url) => url.pathname !== '/sign-in');
}, 120_000);

afterAll(async () => {
  await browser?.close();
  service?.child.kill('SIGTERM');
  expect(await service?.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

const soon = <T>(look: () => Promise<T> | T) => expect.poll(look, { timeout: 15_000 });
const titles = () =>
  otto
    .getByRole('list', { name: 'Posts' })
    .getByRole('link', { name: /Quay|Valley|Nowhere/ })
    .evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')?.split(',')[0]).sort());

test('what one may do in a team, and in those below it, is offered there and nowhere else', async () => {
  // A team below the one of the grant: its words, picture and members, not its place nor its end.
  await otto.goto(`${service.address}/teams/${ids.get('Piers')}?show=members`);
  await otto.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await otto.getByRole('button', { name: 'Add', exact: true }).waitFor();
  expect(await otto.getByRole('button', { name: /Put below|Close|Take away/ }).count()).toBe(0);
  await otto.getByRole('button', { name: 'Edit', exact: true }).click();
  await otto.getByRole('dialog').getByLabel('Description').fill('Of wood and of stone');
  await otto.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await otto.getByText('Of wood and of stone').waitFor();

  // Its posts are changed and taken out of it; those of another team are only looked at.
  await otto.goto(`${service.address}/posts/${ids.get('Valley')}`);
  await otto.getByRole('heading', { name: 'Valley', level: 1 }).waitFor();
  await otto.waitForLoadState('networkidle');
  expect(await otto.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
  await otto.goto(`${service.address}/teams/${ids.get('Hills')}`);
  await otto.getByRole('button', { name: 'Follow', exact: true }).waitFor();
  await otto.waitForLoadState('networkidle');
  expect(await otto.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
  await otto.goto(`${service.address}/posts/${ids.get('Quay')}`);
  await otto.getByRole('link', { name: 'Edit', exact: true }).click();
  await otto.getByLabel('Team').selectOption({ label: 'No team' });
  await otto.getByRole('button', { name: 'Save', exact: true }).click();
  await soon(async () => (await call(mara, 'GET', `/posts/${ids.get('Quay')}`)).team_id).toBeUndefined();
  await call(mara, 'PATCH', `/posts/${ids.get('Quay')}`, { team_id: ids.get('Piers') });
}, 90_000);

test('followed teams stand above the feed, narrow it, are arranged and hidden; there is a feed of them all', async () => {
  for (const name of ['Hills', 'Piers']) await call(otto, 'PUT', `/teams/${ids.get(name)}/follow`);
  await otto.goto(service.address);
  const chips = otto.getByRole('navigation', { name: 'Teams you follow' });
  const names = async () => (await chips.getByRole('link').allInnerTexts()).map((text) => text.trim());
  await soon(names).toEqual(['Hills', 'Piers']);
  await chips.getByRole('link', { name: 'Piers' }).click();
  await otto.waitForURL(/\?team=/);
  await soon(titles).toEqual(['Quay']);
  await chips.getByRole('link', { name: 'Piers' }).click();
  await otto.waitForURL(`${service.address}/`);
  await soon(titles).toEqual(['Nowhere in particular', 'Quay', 'Valley']);
  await otto.getByRole('navigation', { name: 'Feed' }).getByRole('link', { name: 'Teams' }).click();
  await otto.waitForURL(/\?show=team$/);
  await soon(titles).toEqual(['Quay', 'Valley']);

  await otto.getByRole('button', { name: 'Arrange the chips' }).click();
  const dialog = otto.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Move Piers up' }).press('Enter');
  await soon(names).toEqual(['Piers', 'Hills']);
  await dialog.getByRole('button', { name: 'Show Hills above the feed' }).click();
  await soon(names).toEqual(['Piers']);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await call(otto, 'GET', '/auth/me/followed-teams')).toHaveLength(2);
  await otto.reload();
  await soon(names).toEqual(['Piers']);
  await soon(titles).toEqual(['Quay', 'Valley']);
}, 90_000);

test('somebody who never wrote here can be mentioned; a digest goes by the clock of this device', async () => {
  await otto.goto(`${service.address}/posts/${ids.get('Quay')}`);
  const field = otto.getByLabel('Write a comment');
  await field.pressSequentially('Ask @zel');
  await otto.getByRole('option', { name: /Zelda Quint/ }).waitFor();
  await field.press('Enter');
  expect(await field.inputValue()).toBe('Ask @zelda ');

  await otto.goto(`${service.address}/settings/notifications`);
  const zone = otto.getByLabel('Time zone');
  await soon(() => zone.inputValue()).toBe('UTC');
  await zone.selectOption({ label: 'Asia/Kathmandu (this device)' });
  await otto.getByLabel('Hour').selectOption('07:00');
  await soon(() => call(otto, 'GET', '/account/notification-preferences')).toMatchObject({
    digest: { every: 'day', hour: 7, weekday: 1, time_zone: 'Asia/Kathmandu' },
  });
  expect(faults).toEqual([]);
}, 90_000);
