import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedConnection } from '../../src/platform/database/embedded.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { openBrowser } from '../support/browser.ts';
import { visit } from '../support/client.ts';
import { upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

/** Where pictures of the pages go, when somebody wants to look at them. */
const shots = process.env.VITRINE_TEST_SHOTS;

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let database: DatabasePool;
let mara: Page;
let hash: string;
const faults: string[] = [];

async function openPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  return page;
}

async function shoot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  for (const [size, width, height] of [
    ['desktop', 1280, 900],
    ['phone', 375, 760],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(shots, `${name}-${size}-${colorScheme}.png`), fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-operate-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: 'a long password',
  });
  database = openPool(embeddedConnection(directory), 2);
  browser = await openBrowser();
  mara = await openPage();
  await mara.goto(`${service.address}/sign-in`);
  await mara.getByLabel('Username').fill('mara');
  await mara.getByLabel('Password', { exact: true }).fill('a long password');
  await mara.getByRole('button', { name: 'Sign in' }).click();
  await mara.waitForURL((url) => url.pathname !== '/sign-in');
  const cookie = (await mara.context().cookies()).find(({ name }) => name === 'user');
  const account = visit(service.address, {}, cookie?.value);
  hash = (await upload(account, await jpeg(640, 480))).file_hash ?? '';
});

afterAll(async () => {
  await browser.close();
  await database.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('storage is counted when it is asked for, with the disk beside it', async () => {
  await mara.goto(`${service.address}/admin/storage`);
  await mara.getByRole('meter', { name: 'Disk in use' }).waitFor();
  await mara.getByRole('button', { name: 'Count now' }).click();
  const images = mara.getByRole('listitem').filter({ hasText: /^Image/ });
  await images.waitFor();
  await mara.getByText(/Counted just now/).waitFor();
  const originals = mara.locator('dl > div').filter({ hasText: /^Originals/ });
  await expect.poll(() => originals.innerText()).toMatch(/B\s1\s/);
  await shoot(mara, 'storage');
}, 60_000);

test('a job that failed says why, is tried again, and another is given up', async () => {
  const { pool } = database;
  for (const [name, error] of [
    ['sweep', 'EACCES: permission denied, open incoming\n    at open (node:fs)'],
    ['purge', 'the database went away'],
  ] as const) {
    const { rows } = await pool.query<{ id: string }>(
      `select id from graphile_worker.add_job($1, run_at => now() + interval '1 day')`,
      [name],
    );
    await pool.query('select graphile_worker.permanently_fail_jobs(array[$1::bigint], $2)', [
      rows[0]?.id,
      error,
    ]);
  }
  await mara.goto(`${service.address}/admin/jobs`);
  await mara.getByRole('link', { name: 'Failed 2' }).click();
  await mara.waitForURL(/state=failed/);
  const swept = mara.getByRole('listitem').filter({ hasText: 'Sweep leftovers away' });
  await swept.getByText('EACCES: permission denied').first().click();
  await swept.locator('pre').waitFor();
  await shoot(mara, 'jobs');
  await swept.getByRole('button', { name: /^Try again/ }).click();
  await swept.waitFor({ state: 'detached' });
  await mara.getByRole('button', { name: /^Give up: Empty the trash/ }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Give up' }).click();
  await mara.getByText('No job has failed.').waitFor();
  expect(await mara.getByRole('button', { name: 'Try all that failed again' }).count()).toBe(0);
}, 60_000);

test('the doctor says what is wrong, and no longer when it was mended', async () => {
  const path = join(directory, 'library', originalKey(hash));
  await rename(path, `${path}.away`);
  await mara.goto(`${service.address}/admin/doctor`);
  const problems = mara.getByRole('list', { name: 'Problems' });
  const files = problems.getByRole('listitem').filter({ hasText: 'Files' });
  await files.getByText('Put them back from a backup').waitFor();
  await shoot(mara, 'doctor');
  await rename(`${path}.away`, path);
  await mara.getByRole('button', { name: 'Look again' }).click();
  await files.waitFor({ state: 'detached' });
  const fine = mara.getByRole('list', { name: 'Fine' });
  await fine.getByRole('listitem').filter({ hasText: 'Workers' }).getByText('1 process at work').waitFor();
}, 60_000);

test('name and address of the site, and who may visit it, are on one page', async () => {
  await mara.goto(`${service.address}/settings/library`);
  await mara.waitForURL(/\/admin\/site$/);
  await mara.getByLabel('Name of the library').fill('Glass house');
  await mara.getByLabel('Public address').fill('http://photos.example.org');
  await mara.getByRole('button', { name: 'Save', exact: true }).click();
  await mara.getByRole('banner').getByText('Glass house').waitFor();
  const visitor = await openPage();
  const refused = await visitor.goto(`${service.address}/api/v1/posts`);
  expect(refused?.status()).toBe(401);
  const mode = mara.getByRole('switch', { name: 'Public mode' });
  await mode.click();
  await expect.poll(() => mode.getAttribute('aria-checked')).toBe('true');
  await expect.poll(async () => (await visitor.goto(`${service.address}/api/v1/posts`))?.status()).toBe(200);
  await shoot(mara, 'site');
}, 60_000);

test('an address that would shut this page out takes a second word', async () => {
  // As behind a proxy that gives itself as the host: the page's own address is known by the stored one alone.
  await mara.route('**/admin/system/site', async (route) => {
    const headers = { ...route.request().headers(), origin: 'http://photos.example.org' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
  await mara.goto(`${service.address}/admin/site`);
  await mara.getByLabel('Public address').fill('http://typo.example.org');
  await mara.getByRole('button', { name: 'Save', exact: true }).click();
  await mara.getByRole('alert').filter({ hasText: 'where you are now, would be refused' }).waitFor();
  await shoot(mara, 'site-refused');
  await mara.getByRole('button', { name: 'Set it all the same' }).click();
  await mara.getByRole('button', { name: 'Set it all the same' }).waitFor({ state: 'detached' });
  await mara.unrouteAll({ behavior: 'wait' });
  await mara.reload();
  await expect.poll(() => mara.getByLabel('Public address').inputValue()).toBe('http://typo.example.org');
}, 60_000);

test('somebody without the capabilities sees none of it', async () => {
  const { pool } = database;
  const cookie = (await mara.context().cookies()).find(({ name }) => name === 'user');
  const admin = visit(service.address, {}, cookie?.value);
  const otto = await admin.ok('createUser', {
    body: { username: 'otto', password: 'another password', role: 'viewer' },
  });
  await pool.query('insert into user_capability_grants (user_ref, capability) values ($1, $2)', [
    otto.ref,
    'jobs.read',
  ]);
  const page = await openPage();
  await page.goto(`${service.address}/sign-in`);
  await page.getByLabel('Username').fill('otto');
  await page.getByLabel('Password', { exact: true }).fill('another password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  await page.goto(`${service.address}/admin/jobs`);
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  const sections = page.getByRole('navigation', { name: 'Administration' }).getByRole('link');
  expect(await sections.allInnerTexts()).toEqual(['Jobs']);
  for (const path of ['site', 'storage', 'doctor']) {
    await page.goto(`${service.address}/admin/${path}`);
    await page.getByText('This page is not open to your account').waitFor();
  }
}, 60_000);

test('no page is wider than a phone, and none threw', async () => {
  await mara.setViewportSize({ width: 375, height: 700 });
  for (const path of ['site', 'storage', 'jobs', 'doctor']) {
    await mara.goto(`${service.address}/admin/${path}`);
    await mara.getByRole('heading', { level: 1 }).waitFor();
    const [wide, view] = await mara.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    expect([path, wide]).toEqual([path, view]);
  }
  expect(faults).toEqual([]);
}, 60_000);
