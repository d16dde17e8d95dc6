import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg, truncatedJpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

interface Stored {
  readonly id: string;
  readonly file_hash: string;
}

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let mara: Page;
let ana: Page;
let otto: Page;
let pier: Stored;
let hidden: Stored;
let rated: Stored;
const faults: string[] = [];

/** Somebody signed in, in a browser of their own. */
async function enter(username: string, password: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(`${service.address}/sign-in`);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
  return page;
}

async function upload(
  page: Page,
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string>,
): Promise<Stored> {
  const answer = await page.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: { ...fields, file: { name: 'p.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(bytes) } },
  });
  expect(answer.status()).toBe(201);
  return answer.json();
}

/** What the service answers about an asset, as this page's caller is told it. */
async function read(page: Page, id: string) {
  const { text } = await callFrom(page, 'GET', `/assets/${id}`);
  const asset: Record<string, unknown> & { processing_status?: string } = JSON.parse(text);
  return asset;
}

/** How the making of its previews ended. */
function settled(page: Page, id: string): Promise<string | undefined> {
  return vi.waitFor(
    async () => {
      const { processing_status } = await read(page, id);
      expect(processing_status).not.toBe('pending');
      return processing_status;
    },
    { timeout: 30_000, interval: 200 },
  );
}

function open(page: Page, path: string) {
  return page.goto(`${service.address}${path}`);
}

function tile(page: Page, name: string | RegExp) {
  return page.getByRole('list', { name: 'Assets' }).getByRole('link', { name });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-assets-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: 'a long password',
  });
  browser = await openBrowser();
  mara = await enter('mara', 'a long password');
  for (const username of ['ana', 'otto']) {
    const body = { username, password: 'another password', role: 'member' };
    expect((await callFrom(mara, 'POST', '/admin/users', body)).status).toBe(201);
  }
  const allowed = await callFrom(mara, 'PUT', '/admin/system/mature-content', { allowed: true });
  expect(allowed.status).toBe(200);
  ana = await enter('ana', 'another password');
  otto = await enter('otto', 'another password');
  pier = await upload(ana, await jpeg(900, 600), { title: 'Pier' });
  hidden = await upload(ana, await jpeg(600, 600, { seed: 2 }), {
    title: 'Kept back',
    sensitivity: 'restricted',
  });
  rated = await upload(ana, await jpeg(600, 900, { seed: 3 }), { title: 'Rated', mature: 'true' });
  for (const { id } of [pier, hidden, rated]) expect(await settled(ana, id)).toBe('ready');
}, 120_000);

afterAll(async () => {
  await browser.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('the library: one’s own by filter and page after page, everyone’s with frames and blurs', async () => {
  const again = { file_hash: pier.file_hash };
  for (let at = 1; at <= 55; at += 1) {
    const body = {
      ...again,
      title: `Copy ${at}`,
      ...(at <= 2 ? { tags: ['dusk', 'sea'], status: 'draft' } : {}),
    };
    expect((await callFrom(ana, 'POST', '/assets', body)).status).toBe(201);
  }
  await open(ana, '/assets');
  const tiles = ana.getByRole('list', { name: 'Assets' }).getByRole('link');
  await tile(ana, 'Copy 55').waitFor();
  expect(await tiles.count()).toBe(50);
  await ana.mouse.move(640, 500);
  await ana.mouse.wheel(0, 20_000);
  await tile(ana, 'Pier').waitFor();
  await expect.poll(() => tiles.count()).toBe(58);

  await ana.getByLabel('Status').selectOption('Draft');
  await ana.waitForURL(/status=draft/);
  await expect.poll(() => tiles.count()).toBe(2);
  await ana.getByLabel('Tag', { exact: true }).fill('#dusk');
  await ana.keyboard.press('Enter');
  await ana.waitForURL(/status=draft&tag=dusk/);
  await tile(ana, 'Copy 2, Draft').waitFor();
  await ana.getByLabel('Tag', { exact: true }).fill('noon');
  await ana.keyboard.press('Enter');
  await ana.getByRole('heading', { name: 'Nothing fits' }).waitFor();
  await ana.getByRole('link', { name: 'Take away the tag noon' }).click();
  await tile(ana, 'Copy 2, Draft').waitFor();

  // Of somebody else one sees frames and blurs, and a filter finds neither drafts nor what is withheld.
  await open(otto, '/assets');
  await otto.getByRole('heading', { name: 'Nothing of yours yet' }).waitFor();
  await otto.getByRole('link', { name: 'Everybody’s' }).click();
  await tile(otto, 'Copy 55').waitFor();
  await otto.mouse.move(640, 500);
  await otto.mouse.wheel(0, 20_000);
  await tile(otto, 'Not shared with you, belongs to ana').waitFor();
  expect(await tile(otto, 'Kept back').count()).toBe(0);
  expect(await tile(otto, 'Rated').getByText('Mature').count()).toBe(1);
  expect(await tile(otto, 'Rated').locator('img').count()).toBe(0);
  await otto.getByLabel('Type').selectOption('Image');
  await otto.waitForURL(/type=1/);
  await otto.getByText('What is not shared with you is never found by a filter.').waitFor();
  await otto.mouse.wheel(0, 20_000);
  await tile(otto, 'Pier').waitFor();
  expect(await tile(otto, /Not shared/).count()).toBe(0);
  expect(await tile(otto, /Draft/).count()).toBe(0);

  await tile(otto, 'Rated').click();
  await otto.getByText('you have not chosen to see mature content').waitFor();
  expect(await otto.getByRole('link', { name: 'Download' }).count()).toBe(0);
  expect(await otto.getByRole('button', { name: 'Edit' }).count()).toBe(0);
}, 90_000);

test('its owner edits an asset; what somebody else changed meanwhile is told and not lost', async () => {
  await open(ana, `/assets/${pier.id}`);
  const edit = ana.getByRole('button', { name: 'Edit' });
  const title = ana.getByLabel('Title');
  await edit.click();
  await expect.poll(() => title.evaluate((field) => field === document.activeElement)).toBe(true);
  await ana.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => edit.evaluate((button) => button === document.activeElement)).toBe(true);

  await edit.click();
  await title.fill('Harbour');
  // The last tag is not ended by Enter: saving takes it all the same.
  await ana.getByLabel('Tags', { exact: true }).fill('quay, fog');
  await ana.getByLabel('How AI took part').selectOption('AI assisted');
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await ana.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  expect(await read(ana, pier.id)).toMatchObject({
    title: 'Harbour',
    tags: ['quay', 'fog'],
    ai_provenance: 'assisted',
  });
  expect(await ana.getByRole('list', { name: 'Tags' }).innerText()).toMatch(/quay\s*by hand/);

  await edit.click();
  await title.fill('Harbour at dusk');
  await ana.getByLabel('How AI took part').selectOption('Not declared');
  await ana.getByRole('radio', { name: /Only the owner/ }).check();
  const meanwhile = { title: 'Port', description: 'From the mole.' };
  expect((await callFrom(mara, 'PATCH', `/assets/${pier.id}`, meanwhile)).status).toBe(200);
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  const warning = ana.getByRole('alert').filter({ hasText: 'It was changed meanwhile' });
  await warning.getByText('Somebody else changed title and description').waitFor();
  expect(await read(ana, pier.id)).toMatchObject({ title: 'Port', sensitivity: 'public' });
  await warning.getByRole('button', { name: 'Start from the newer version' }).click();
  expect(await title.inputValue()).toBe('Port');

  await title.fill('Harbour at dusk');
  await ana.getByLabel('How AI took part').selectOption('Not declared');
  await ana.getByRole('radio', { name: /Only the owner/ }).check();
  const again = { tags: ['mole'] };
  expect((await callFrom(mara, 'PATCH', `/assets/${pier.id}`, again)).status).toBe(200);
  await ana.getByRole('button', { name: 'Save', exact: true }).click();
  await warning.getByRole('button', { name: 'Save my changes on top' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1 }).waitFor();
  expect(await read(ana, pier.id)).toMatchObject({
    title: 'Harbour at dusk',
    description: 'From the mole.',
    tags: ['mole'],
    ai_provenance: null,
    sensitivity: 'restricted',
  });
  await ana.getByText('The owner and administrators. Others see an empty frame').waitFor();
  const open4all = { sensitivity: 'public' };
  expect((await callFrom(ana, 'PATCH', `/assets/${pier.id}`, open4all)).status).toBe(200);
}, 60_000);

test('where an asset appears: the owner is told how many posts are withheld, others only of those they see', async () => {
  const members = [{ asset_id: pier.id }];
  const posts = [
    { members, title: 'For all', visibility: 'org-only' },
    { members, title: 'Between us', visibility: 'private' },
    { members, title: 'Not yet', visibility: 'public', draft: true },
  ];
  for (const body of posts) expect((await callFrom(otto, 'POST', '/posts', body)).status).toBe(201);
  await open(ana, `/assets/${pier.id}`);
  const seen = (page: Page) => page.getByRole('region', { name: 'Where this appears' });
  await seen(ana).getByRole('link', { name: 'For all' }).waitFor();
  await seen(ana).getByText('And 2 more posts you cannot see.').waitFor();
  expect(await seen(ana).getByRole('link').count()).toBe(1);

  await open(otto, `/assets/${pier.id}`);
  await seen(otto).getByRole('link', { name: 'Between us' }).waitFor();
  expect(await seen(otto).getByText('cannot see').count()).toBe(0);
  await seen(otto).getByRole('link', { name: 'For all' }).click();
  await otto.getByRole('heading', { name: 'For all' }).waitFor();
  // And back to the asset from the post.
  await otto.getByRole('link', { name: 'More about it' }).click();
  await otto.waitForURL(`${service.address}/assets/${pier.id}`);
}, 60_000);

test('deleting: undone at once, restored from the trash, and asked for where somebody else did it', async () => {
  await open(ana, `/assets/${pier.id}`);
  const remove = async (page: Page, reason: string) => {
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByLabel('Reason (optional)').fill(reason);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: /is in the trash/ }).waitFor();
  };
  await remove(ana, 'By mistake');
  expect((await callFrom(ana, 'GET', `/assets/${pier.id}`)).status).toBe(404);
  await ana.getByRole('button', { name: 'Undo' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1, exact: true }).waitFor();
  expect((await callFrom(ana, 'GET', `/assets/${pier.id}`)).status).toBe(200);

  await remove(ana, 'Twice the same');
  await ana.getByRole('link', { name: 'Trash' }).click();
  const row = (page: Page) =>
    page
      .getByRole('list', { name: 'Deleted things' })
      .getByRole('listitem')
      .filter({ hasText: 'Harbour at dusk' });
  await row(ana).getByText('by you').waitFor();
  expect(await row(ana).innerText()).toMatch(/Asset, deleted .*“Twice the same”/s);
  await row(ana)
    .getByRole('button', { name: /^Restore/ })
    .click();
  await row(ana).getByText('Restored.').waitFor();
  await row(ana).getByRole('link', { name: 'Open it' }).click();
  await ana.getByRole('heading', { name: 'Harbour at dusk', level: 1 }).waitFor();

  await open(mara, `/assets/${pier.id}`);
  await remove(mara, 'The rights are not ours');
  await open(ana, '/trash');
  await row(ana).getByText('by mara').waitFor();
  expect(await row(ana).innerText()).toContain('“The rights are not ours”');
  expect(
    await row(ana)
      .getByRole('button', { name: /^Restore/ })
      .count(),
  ).toBe(0);
  await row(ana)
    .getByRole('button', { name: /^Ask to restore/ })
    .click();
  await ana.getByRole('dialog').getByLabel('Reason (optional)').fill('They are, see the contract');
  await ana.getByRole('dialog').getByRole('button', { name: 'Send request' }).click();
  await row(ana).getByText('Asked. Whoever deleted it decides.').waitFor();
  const repeated = await callFrom(ana, 'POST', `/account/trash/asset/${pier.id}/request-restore`, {});
  expect(repeated.status).toBe(200);
  expect(JSON.parse(repeated.text)).toMatchObject({ reason: 'They are, see the contract', state: 'pending' });
  await ana.getByRole('link', { name: 'Deleted by you' }).click();
  await ana.getByText('You deleted nothing.').waitFor();
  expect((await callFrom(mara, 'POST', `/admin/assets/${pier.id}/restore`)).status).toBe(204);
}, 60_000);

test('a withheld asset: a frame with its owner’s name, and a request that promises nothing', async () => {
  await open(otto, `/assets/${hidden.id}`);
  await otto.getByRole('heading', { name: 'Not shared with you' }).waitFor();
  await otto.getByText('It belongs to ana.').waitFor();
  expect(await otto.getByRole('main').innerText()).not.toContain('Kept back');
  await otto.getByRole('button', { name: 'Request access' }).click();
  const dialog = otto.getByRole('dialog');
  await dialog.getByLabel('Reason (optional)').fill('For the yearbook');
  const words = await dialog.innerText();
  await dialog.getByRole('button', { name: 'Send request' }).click();
  await otto.getByText('Asked. The owner decides.').waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect(`${words} ${await otto.getByRole('main').innerText()}`).not.toMatch(
    /unlock|reveal|once|grant|approv|will see/i,
  );
  const repeated = await callFrom(otto, 'POST', `/assets/${hidden.id}/request-access`, {});
  expect(repeated.status).toBe(200);
  expect(JSON.parse(repeated.text)).toMatchObject({ reason: 'For the yearbook', state: 'pending' });

  await open(otto, '/assets/00000000-0000-4000-8000-000000000000');
  await otto.getByRole('heading', { name: 'This asset is not here' }).waitFor();
}, 60_000);

test('a picture that could not be rendered is tried again by its owner', async () => {
  const broken = await upload(ana, await truncatedJpeg(), { title: 'Half' });
  expect(await settled(ana, broken.id)).toBe('failed');
  await open(ana, `/assets/${broken.id}`);
  const again = ana.getByRole('button', { name: 'Try again' });
  const answered = ana.waitForResponse(/\/reprocess$/);
  await again.click();
  expect(await (await answered).json()).toMatchObject({ processing_status: 'pending' });
  // It is as broken as before, and the page finds that out by itself: the button is back.
  await expect.poll(() => again.isEnabled(), { timeout: 30_000 }).toBe(true);
  expect(await settled(ana, broken.id)).toBe('failed');
}, 90_000);

test('the library’s settings: mature content and how long the trash is kept, for who may change them', async () => {
  await open(mara, '/admin/site');
  const mature = mara.getByRole('switch', { name: 'Mature content' });
  await expect.poll(() => mature.getAttribute('aria-checked')).toBe('true');
  await mature.click();
  const allowed = async () => JSON.parse((await callFrom(mara, 'GET', '/admin/system/mature-content')).text);
  await expect.poll(allowed).toEqual({ allowed: false });
  await open(otto, `/assets/${rated.id}`);
  await otto.getByText('this library does not show mature content').waitFor();

  await mara.getByText('For 30 days.').waitFor();
  await mara.getByRole('button', { name: 'Change how long deleted things are kept' }).click();
  await mara.getByRole('textbox', { name: 'Days' }).fill('7');
  await mara.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Keep 7 days' }).click();
  await mara.getByText('For 7 days.').waitFor();
  const kept = await callFrom(mara, 'GET', '/admin/system/trash');
  expect(JSON.parse(kept.text)).toEqual({ retention_days: 7 });

  await open(otto, '/settings/library');
  await otto.getByText('This page is not open to your account').waitFor();
  expect(await otto.getByRole('switch').count()).toBe(0);
}, 60_000);

test('no page is wider than a phone, and none threw', async () => {
  await ana.setViewportSize({ width: 375, height: 700 });
  for (const path of [
    '/assets',
    '/assets?of=everyone&type=1',
    `/assets/${pier.id}`,
    '/trash',
    '/trash?of=by-me',
  ]) {
    await open(ana, path);
    await ana.getByRole('heading', { level: 1 }).waitFor();
    await ana.waitForLoadState('networkidle');
    const over = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
    expect(await ana.evaluate(over), path).toBe(0);
  }
  expect(faults).toEqual([]);
}, 60_000);
