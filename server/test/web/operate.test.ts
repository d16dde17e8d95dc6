import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabasePool } from '../../src/platform/database/pool.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { jpeg } from '../support/pictures.ts';
import { call, upload } from './call.ts';
import { overhang } from './hands.ts';
import { openStudio, password, type Studio } from './studio.ts';

/** The directory for screenshots of the pages, if one is set. */
const shots = process.env.VITRINE_TEST_SHOTS;

let studio: Studio;
let database: DatabasePool;
let mara: Page;
let hash: string;

async function shoot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  for (const [size, width, height] of [
    ['desktop', 1440, 900],
    ['phone', 390, 760],
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
  const opened = await openStudio();
  studio = opened;
  database = opened.library.database;
  mara = await studio.enter('mara');
  hash = (await upload(mara, await jpeg(640, 480))).file_hash ?? '';
});

afterAll(() => studio.close());

test('counts storage on request and shows disk usage', async () => {
  await mara.goto('/admin/storage');
  await mara.getByRole('meter', { name: 'Disk in use' }).waitFor();
  await mara.getByRole('button', { name: 'Count now' }).click();
  const images = mara.getByRole('listitem').filter({ hasText: /^Image/ });
  await images.waitFor();
  await mara.getByText(/Counted just now/).waitFor();
  const originals = mara.locator('dl > div').filter({ hasText: /^Originals/ });
  await expect.poll(() => originals.innerText()).toMatch(/B\s1\s/);
  await shoot(mara, 'storage');
});

test('explains failed jobs, retries one and gives up another', async () => {
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
  await mara.goto('/admin/jobs');
  await mara.getByRole('link', { name: 'Failed 2' }).click();
  await mara.waitForURL(/state=failed/);
  const swept = mara.getByRole('listitem').filter({ hasText: 'Clean up unused files' });
  await swept.getByText('The service may not read or write one of its files.').click();
  await swept.locator('pre').getByText('EACCES: permission denied').waitFor();
  await shoot(mara, 'jobs');
  await swept.getByRole('button', { name: /^Try again/ }).click();
  await swept.waitFor({ state: 'detached' });
  await mara.getByRole('button', { name: /^Discard: Empty the trash/ }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
  await mara.getByText('No failed jobs.').waitFor();
  await expect.poll(() => mara.getByRole('button', { name: 'Retry all failed jobs' }).count()).toBe(0);
});

test('shows the progress of running jobs and pauses work on stored files', async () => {
  const { pool } = database;
  await call(mara, 'PUT', '/admin/system/previews/paused', { paused: true });
  await pool.query(`insert into files (hash, size_bytes, mime, makers_version)
    select encode(sha256(n::text::bytea), 'hex'), 120000000, 'video/mp4', case when n < 4 then 1000 else 0 end from generate_series(1, 9) n`);
  await pool.query(
    `insert into transcodes (file_hash, state, progress) values (encode(sha256('1'), 'hex'), 'running', 0.62)`,
  );
  await pool.query(
    `select graphile_worker.add_job('transcode', json_build_object('hash', encode(sha256('1'), 'hex')), run_at => now() + interval '1 hour')`,
  );
  await pool.query(`update graphile_worker._private_jobs set locked_at = now() - interval '5 minutes', locked_by = 'elsewhere',
    attempts = 2, last_error = 'ENOSPC: no space left on device, write' where payload ->> 'hash' = encode(sha256('1'), 'hex')`);
  await pool.query(`select graphile_worker.add_job('render-again', run_at => now() + interval '1 hour')`);
  await mara.goto('/admin/jobs');
  const film = mara.getByRole('listitem').filter({ hasText: 'Convert a video or sound for streaming' });
  await film.getByText('62 %, encoding').waitFor();
  await film.getByText('The disk is full.').waitFor();
  await film.getByText(/video\/mp4, 1\d\d MB.*attempt 2 of 25, begun.*5 minutes ago/s).waitFor();
  const stored = mara.getByRole('region', { name: 'Stored files' });
  await stored.getByText('4 of 10 stored files are up to date; paused.').waitFor();
  await mara
    .getByRole('listitem')
    .filter({ hasText: 'Bring stored files up to date' })
    .getByText('4 of 10 files')
    .waitFor();
  await shoot(mara, 'jobs-running');
  await mara.setViewportSize({ width: 390, height: 800 });
  expect(await overhang(mara)).toBe(0);
  await mara.setViewportSize({ width: 1280, height: 900 });
  await stored.getByRole('button', { name: 'Resume' }).click();
  await stored.getByRole('button', { name: 'Pause' }).click();
  await stored.getByRole('button', { name: 'Resume' }).waitFor();
  await pool.query('delete from graphile_worker._private_jobs');
  await pool.query("delete from files where mime = 'video/mp4'");
  await call(mara, 'PUT', '/admin/system/previews/paused', { paused: false });
});

test('the doctor reports a problem until it is fixed', async () => {
  const path = join(studio.directory, 'library', originalKey(hash));
  await rename(path, `${path}.away`);
  await mara.goto('/admin/doctor');
  const problems = mara.getByRole('list', { name: 'Problems' });
  const files = problems.getByRole('listitem').filter({ hasText: 'Files' });
  await files.getByText('Put them back from a backup').waitFor();
  await shoot(mara, 'doctor');
  await rename(`${path}.away`, path);
  await mara.getByRole('button', { name: 'Check again' }).click();
  await files.waitFor({ state: 'detached' });
  const fine = mara.getByRole('list', { name: 'Fine' });
  await fine.getByRole('listitem').filter({ hasText: 'Workers' }).getByText('1 process at work').waitFor();
});

test('one page has the site’s name, address and public mode', async () => {
  await mara.goto('/settings/library');
  await mara.waitForURL(/\/admin\/site$/);
  await mara.getByLabel('Name of the library').fill('Glass house');
  await mara.getByLabel('Public address').fill('http://photos.example.org');
  await mara.getByRole('region', { name: 'Name and address' }).getByRole('button', { name: 'Save' }).click();
  await mara.getByRole('banner').getByText('Glass house').waitFor();
  const visitor = await studio.openPage();
  const refused = await visitor.goto('/api/v1/posts');
  expect(refused?.status()).toBe(401);
  const mode = mara.getByRole('switch', { name: 'Public mode' });
  await mode.click();
  const question = mara.getByRole('alertdialog', { name: 'Let visitors in?' });
  await question.getByText('No posts').waitFor();
  await shoot(mara, 'public-mode');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => mode.getAttribute('aria-checked')).toBe('false');
  expect((await visitor.goto('/api/v1/posts'))?.status()).toBe(401);
  await mode.click();
  await question.getByRole('button', { name: 'Turn on public mode' }).click();
  await question.waitFor({ state: 'detached' });
  await expect.poll(() => mode.getAttribute('aria-checked')).toBe('true');
  await expect.poll(async () => (await visitor.goto('/api/v1/posts'))?.status()).toBe(200);
  await shoot(mara, 'site');
});

test('asks for confirmation of an address that would lock out this page', async () => {
  // As behind a proxy that gives itself as the host: the page's own address is known by the stored one alone.
  await mara.route('**/admin/system/site', async (route) => {
    const headers = { ...route.request().headers(), origin: 'http://photos.example.org' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
  await mara.goto('/admin/site');
  await mara.getByLabel('Public address').fill('http://typo.example.org');
  await mara.getByRole('region', { name: 'Name and address' }).getByRole('button', { name: 'Save' }).click();
  await mara.getByRole('alert').filter({ hasText: 'where you are now, would be refused' }).waitFor();
  await shoot(mara, 'site-refused');
  await mara.getByRole('button', { name: 'Set it anyway' }).click();
  await mara.getByRole('button', { name: 'Set it anyway' }).waitFor({ state: 'detached' });
  await mara.unrouteAll({ behavior: 'wait' });
  await mara.reload();
  await expect.poll(() => mara.getByLabel('Public address').inputValue()).toBe('http://typo.example.org');
});

test('hides administration pages from people without the capabilities', async () => {
  const { pool } = database;
  const otto = await call(mara, 'POST', '/admin/users', { username: 'otto', password, role: 'viewer' });
  await pool.query('insert into user_capability_grants (user_ref, capability) values ($1, $2)', [
    otto.ref,
    'jobs.read',
  ]);
  const page = await studio.enter('otto');
  await page.goto('/admin/jobs');
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  const sections = page.getByRole('navigation', { name: 'Administration' }).getByRole('link');
  await expect.poll(() => sections.allInnerTexts()).toEqual(['Jobs']);
  for (const path of ['site', 'storage', 'doctor']) {
    await page.goto(`/admin/${path}`);
    await page.getByText('You do not have access to this page').waitFor();
  }
});

test('no page overflows a phone screen or throws', async () => {
  await mara.setViewportSize({ width: 375, height: 700 });
  for (const path of ['site', 'storage', 'jobs', 'doctor']) {
    await mara.goto(`/admin/${path}`);
    await mara.getByRole('heading', { level: 1 }).waitFor();
    await mara.waitForLoadState('networkidle');
    expect(await overhang(mara), path).toBe(0);
  }
  expect(studio.faults).toEqual([]);
});

test('changes preview sizes and renders stored files again', async () => {
  await mara.goto('/admin/previews');
  await mara.getByText('The one stored file is up to date.').waitFor();
  await mara.getByRole('row').nth(4).getByLabel('Longest edge in pixels').fill('3000');
  await mara.getByRole('button', { name: 'Add a size' }).click();
  await mara.getByRole('row').nth(5).getByLabel('Name').fill('print');
  await mara.getByRole('button', { name: 'Save and render again' }).click();
  await expect.poll(async () => (await call(mara, 'GET', '/previews')).variants.length).toBe(5);
  await mara.getByText('The one stored file is up to date.').waitFor();
  await shoot(mara, 'previews');
});
