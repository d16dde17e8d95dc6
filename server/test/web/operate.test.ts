import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { grant } from '../support/people.ts';
import { jpeg, png } from '../support/pictures.ts';
import { call, fileOf, uploadReady } from './call.ts';
import { naturalWidth, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');
const id = await uploadReady(mara, await jpeg(64, 48), { title: 'Kilo' });
const hash = (await call(mara, 'GET', `/assets/${id}`)).file_hash;

test('counts storage on request and shows disk usage', async () => {
  await mara.goto('/admin/storage');
  await mara.getByRole('meter', { name: 'Disk in use' }).waitFor();
  await mara.getByRole('button', { name: 'Count now' }).click();
  const images = mara.getByRole('listitem').filter({ hasText: /^Image/ });
  await images.waitFor();
  await mara.getByText(/Counted just now/).waitFor();
  const originals = mara.locator('dl > div').filter({ hasText: /^Originals/ });
  await expect.poll(() => originals.innerText()).toMatch(/B\s1\s/);
});

test('explains failed jobs, retries one and gives up another', async () => {
  const { pool } = studio.library.database;
  for (const [name, error] of [
    ['sweep', 'EACCES: permission denied, open incoming\n    at open (node:fs)'],
    ['purge', 'the database went away'],
  ] as const) {
    await pool.query(
      `select graphile_worker.permanently_fail_jobs(array[id], $2)
      from graphile_worker.add_job($1, run_at => now() + interval '1 day')`,
      [name, error],
    );
  }
  await visit(mara, '/admin/jobs');
  await mara.getByRole('link', { name: 'Failed 2' }).click();
  await mara.waitForURL(/state=failed/);
  const swept = mara.getByRole('listitem').filter({ hasText: 'Clean up unused files' });
  await swept.getByText('The service may not read or write one of its files.').click();
  await swept.locator('pre').getByText('EACCES: permission denied').waitFor();
  await swept.getByRole('button', { name: /^Try again/ }).click();
  await swept.waitFor({ state: 'detached' });
  await mara.getByRole('button', { name: /^Discard: Empty the trash/ }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
  await mara.getByText('No failed jobs.').waitFor();
  await expect.poll(() => mara.getByRole('button', { name: 'Retry all failed jobs' }).count()).toBe(0);
});

test('shows the progress of running jobs and pauses work on stored files', async () => {
  const { pool } = studio.library.database;
  await call(mara, 'PUT', '/admin/system/previews/paused', { paused: true });
  await pool.query(`insert into files (hash, size_bytes, mime, makers_version)
    select encode(sha256(n::text::bytea), 'hex'), 120000000, 'video/mp4', case when n < 4 then 1000 else 0 end from generate_series(1, 9) n`);
  await pool.query(`insert into transcodes (file_hash, state, progress)
    values (encode(sha256('1'), 'hex'), 'running', 0.62)`);
  await pool.query(`select graphile_worker.add_job('transcode',
    json_build_object('hash', encode(sha256('1'), 'hex')), run_at => now() + interval '1 hour')`);
  await pool.query(`update graphile_worker._private_jobs set locked_at = now() - interval '5 minutes', locked_by = 'elsewhere',
    attempts = 2, last_error = 'ENOSPC: no space left on device, write' where payload ->> 'hash' = encode(sha256('1'), 'hex')`);
  await pool.query(`select graphile_worker.add_job('render-again', run_at => now() + interval '1 hour')`);
  // Loads the page, because the app still has the data of the previous test.
  await mara.goto('/admin/jobs');
  const film = mara.getByRole('listitem').filter({ hasText: 'Convert a video or sound for streaming' });
  await film.getByText('62 %, encoding').waitFor();
  await film.getByText('The disk is full.').waitFor();
  await film.getByText(/video\/mp4, 1\d\d MB.*attempt 2 of 25, begun.*5 minutes ago/s).waitFor();
  const stored = mara.getByRole('region', { name: 'Stored files' });
  await stored.getByText('4 of 10 stored files are up to date; paused.').waitFor();
  const again = mara.getByRole('listitem').filter({ hasText: 'Bring stored files up to date' });
  await again.getByText('4 of 10 files').waitFor();
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
  await visit(mara, '/admin/doctor');
  const problems = mara.getByRole('list', { name: 'Problems' });
  const files = problems.getByRole('listitem').filter({ hasText: 'Files' });
  await files.getByText('Restore them from a backup').waitFor();
  await rename(`${path}.away`, path);
  await mara.getByRole('button', { name: 'Check again' }).click();
  await files.waitFor({ state: 'detached' });
  const fine = mara.getByRole('list', { name: 'Fine' });
  await fine
    .getByRole('listitem')
    .filter({ hasText: 'Workers' })
    .getByText('1 process running jobs')
    .waitFor();
});

test('previews, applies, removes and reapplies a logo; fonts appear on the page', async () => {
  await visit(mara, '/admin/appearance');
  const header = mara.getByRole('banner');
  const preview = mara.getByRole('group', { name: 'Preview of the header' });
  const pick = mara.getByLabel('Choose a logo');
  const file = async (width: number, height: number) =>
    fileOf('logo.png', await png(width, height), 'image/png');

  // A preview shows before sending; an invalid logo is refused with a message and changes nothing.
  await pick.setInputFiles(await file(12, 40));
  await expect.poll(() => preview.locator('img[src^="blob:"]').count()).toBe(2);
  expect(await header.locator('img[data-logo]').count()).toBe(0);
  await mara.getByRole('button', { name: 'Use this logo' }).click();
  await mara.getByRole('alert').filter({ hasText: '16' }).waitFor();
  await mara.getByRole('button', { name: 'Discard' }).click();
  await pick.setInputFiles(await file(240, 80));
  await mara.getByRole('button', { name: 'Use this logo' }).click();
  const logo = header.locator('img[data-logo]');
  await expect.poll(() => naturalWidth(logo)).toBe(240);
  const box = await logo.boundingBox();
  expect(Math.round((box?.width ?? 0) / (box?.height ?? 1))).toBe(3);

  // Visitors see it too, with the chosen fonts.
  await mara.getByLabel('Headings').selectOption('system-serif');
  await mara.getByLabel('Body text', { exact: true }).selectOption('system-sans');
  const chosen = mara.waitForResponse(/\/admin\/system\/appearance$/);
  await mara.getByRole('button', { name: 'Save fonts' }).click();
  await chosen;
  const visitor = await studio.openPage();
  await visitor.goto('/sign-in');
  await visitor.locator('img[data-logo]').waitFor();
  const heading = visitor.getByRole('heading', { name: 'Sign in to Studio North' });
  await expect.poll(() => heading.evaluate((h) => getComputedStyle(h).fontFamily)).toMatch(/^ui-serif/);
  const text = () => visitor.evaluate(() => getComputedStyle(document.body).fontFamily);
  await expect.poll(text).toMatch(/^ui-sans-serif/);

  // Restores the default logo, and then the recent one.
  await mara.getByRole('button', { name: 'Use the Vitrine mark again' }).click();
  await header.locator('svg[data-logo]').waitFor();
  await mara.getByRole('button', { name: 'Use the logo of 240 × 80 again' }).click();
  await logo.waitFor();
});

test('one page sets the site’s name, address, public mode, mature content, retention and following from other systems', async () => {
  await visit(mara, '/settings/library');
  await mara.waitForURL(/\/admin\/site$/);
  const save = mara.getByRole('region', { name: 'Name and address' }).getByRole('button', { name: 'Save' });
  await mara.getByLabel('Name of the library').fill('Glass house');
  await mara.getByLabel('Public address').fill('http://photos.example.org');
  await save.click();
  await mara.getByRole('banner').getByText('Glass house').waitFor();
  const mode = mara.getByRole('switch', { name: 'Public mode' });
  const isPublic = async () => (await fetch(`${studio.address}/api/v1/posts`)).ok;
  await mode.click();
  const question = mara.getByRole('alertdialog', { name: 'Let visitors in?' });
  await question.getByText('No posts').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => mode.getAttribute('aria-checked')).toBe('false');
  expect(await isPublic()).toBe(false);
  await mode.click();
  await question.getByRole('button', { name: 'Turn on public mode' }).click();
  await expect.poll(() => mode.getAttribute('aria-checked')).toBe('true');
  await expect.poll(isPublic).toBe(true);

  const mature = mara.getByRole('switch', { name: 'Mature content' });
  await mature.click();
  await expect.poll(() => call(mara, 'GET', '/admin/system/mature-content')).toEqual({ allowed: false });
  await mara.getByText('For 30 days.').waitFor();
  await mara.getByRole('button', { name: 'Change how long deleted items are kept' }).click();
  await mara.getByRole('textbox', { name: 'Days' }).fill('7');
  await mara.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Keep 7 days' }).click();
  await mara.getByText('For 7 days.').waitFor();

  // AP-1, AP-2
  await mara.getByRole('switch', { name: 'Following from other systems' }).click();
  await mara.getByText('0 people with 0 followers').waitFor();
  await visit(mara, '/settings/profile');
  await mara.getByRole('switch', { name: 'Let people follow me' }).click();
  const handle = mara.getByLabel('Your handle');
  await expect.poll(() => handle.inputValue()).toBe('@mara@photos.example.org');
  await mara.getByRole('switch', { name: 'Let people follow me' }).click();
  await mara.getByRole('button', { name: 'Stop being followed' }).click();
  await handle.waitFor({ state: 'detached' });
  await call(mara, 'PUT', '/system/public-mode', { enabled: false });
});

test('asks for confirmation of an address that would lock out this page', async () => {
  // Simulates a proxy that replaces Host: only the stored public address matches the page's origin.
  await mara.route('**/admin/system/site', async (route) => {
    const headers = { ...route.request().headers(), origin: 'http://photos.example.org' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
  await visit(mara, '/admin/site');
  await mara.getByLabel('Public address').fill('http://typo.example.org');
  await mara.getByRole('region', { name: 'Name and address' }).getByRole('button', { name: 'Save' }).click();
  await mara.getByRole('alert').filter({ hasText: 'your current address' }).waitFor();
  await mara.getByRole('button', { name: 'Set it anyway' }).click();
  await mara.getByRole('button', { name: 'Set it anyway' }).waitFor({ state: 'detached' });
  await mara.unrouteAll({ behavior: 'wait' });
  await expect
    .poll(async () => (await call(mara, 'GET', '/admin/system/site')).base_url)
    .toBe('http://typo.example.org');
});

test('changes preview sizes and renders stored files again', async () => {
  await visit(mara, '/admin/previews');
  await mara.getByText('The one stored file is up to date.').waitFor();
  await mara.getByRole('group').nth(3).getByLabel('Longest edge in pixels').fill('3000');
  await mara.getByRole('button', { name: 'Add a size' }).click();
  await mara.getByRole('group').nth(4).getByLabel('Name').fill('print');
  await mara.getByRole('button', { name: 'Save and render again' }).click();
  await expect.poll(async () => (await call(mara, 'GET', '/previews')).variants.length).toBe(5);
  await mara.getByText('The one stored file is up to date.').waitFor();
});

test('an administrator restricts only the selected files', async () => {
  const [asset] = (await call(mara, 'GET', '/assets')).items;
  const body = { file_hash: hash, title: 'Lima', sensitivity: 'public' };
  const other = await call(mara, 'POST', '/assets', body);
  await visit(mara, '/admin/exposed');
  await mara.getByRole('checkbox', { name: 'Select Kilo' }).check();
  await mara.getByRole('button', { name: 'Restrict 1 file' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Restrict 1 file' }).click();
  await mara.getByRole('checkbox', { name: 'Select Kilo' }).waitFor({ state: 'detached' });
  await mara.getByRole('checkbox', { name: 'Select Lima' }).waitFor();
  const after = await Promise.all([asset, other].map(({ id }) => call(mara, 'GET', `/assets/${id}`)));
  expect(after.map(({ sensitivity }) => sensitivity)).toEqual(['posts', 'public']);
});

test('hides administration pages from people without the capabilities', async () => {
  const otto = await studio.join('otto');
  const { ref } = await call(otto, 'GET', '/auth/me');
  await grant(studio.library, { ref }, 'jobs.read');
  await otto.goto('/admin/jobs');
  await otto.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  const sections = otto.getByRole('navigation', { name: 'Administration' }).getByRole('link');
  await expect.poll(() => sections.allInnerTexts()).toEqual(['Jobs']);
  for (const path of ['site', 'mail', 'fields', 'doctor']) {
    await visit(otto, `/admin/${path}`);
    await otto.getByRole('heading', { name: 'You do not have access to this page' }).waitFor();
    await visit(otto, '/admin/jobs');
  }
});
