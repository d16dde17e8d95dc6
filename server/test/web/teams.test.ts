import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { password } from '../support/library.ts';
import { jpeg, png } from '../support/pictures.ts';
import { call, settled, upload } from './call.ts';
import { naturalWidth } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let mara: Page;

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  await call(mara, 'POST', '/admin/users', {
    username: 'otto',
    password,
    fullname: 'Otto Brandt',
    role: 'member',
  });
});

afterAll(() => studio.close());

async function make(name: string): Promise<string> {
  await mara.goto('/teams');
  await mara.getByRole('button', { name: 'New team' }).click();
  const form = mara.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByLabel('Description').fill(`What ${name} does`);
  await form.getByRole('button', { name: 'Create team' }).click();
  await mara.getByRole('heading', { name, level: 1 }).waitFor();
  return new URL(mara.url()).pathname.split('/').at(-1) ?? '';
}

test('creates, follows, joins, posts to, illustrates, moves and closes a team', async () => {
  const all = await make('All of the studio');
  const harbour = await make('Harbour');
  const form = mara.getByRole('dialog');
  const confirmation = mara.getByRole('alertdialog');

  // A taken slug shows the service's error; a change appears immediately.
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

  // Places it under another team; the reverse would be a cycle.
  await mara.getByRole('button', { name: 'Place under a team' }).click();
  await form.getByRole('radio', { name: 'All of the studio' }).check();
  await form.getByRole('button', { name: 'Place' }).click();
  const above = mara.getByRole('list', { name: 'Parent teams' });
  await above.getByRole('link', { name: 'All of the studio' }).click();
  await mara.waitForURL(`${studio.address}/teams/${all}`);
  await mara.getByRole('heading', { name: 'All of the studio', level: 1 }).waitFor();
  await mara.getByRole('button', { name: 'Place under a team' }).click();
  await form.getByRole('radio', { name: 'Harbour' }).check();
  await form.getByRole('button', { name: 'Place' }).click();
  await form.getByText('Teams would form a cycle.').waitFor();
  await mara.keyboard.press('Escape');

  // Adds a member by name; an unknown name is reported.
  await mara.goto(`/teams/${harbour}?show=members`);
  await mara.getByRole('list', { name: 'Members' }).getByRole('link', { name: 'mara' }).waitFor();
  await mara.getByLabel('Add a member').fill('nobody');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  await mara.getByText('There is no account named “nobody”.').waitFor();
  await mara.getByLabel('Add a member').fill('bran');
  await mara
    .locator('datalist option[value=otto]', { hasText: 'Otto Brandt' })
    .waitFor({ state: 'attached' });
  await mara.getByLabel('Add a member').fill('otto');
  await mara.getByRole('button', { name: 'Add', exact: true }).click();
  await mara.getByRole('list', { name: 'Members' }).getByRole('link', { name: 'Otto Brandt' }).waitFor();

  // Posts of the member for the team are in its channel, and a public asset of the team can be its picture.
  const otto = await studio.enter('otto');
  const asset = await upload(otto, await jpeg(900, 600), { title: 'Pier', team_id: harbour });
  expect(await settled(otto, asset.id)).toBe('ready');
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
  await expect.poll(() => naturalWidth(hero)).toBeGreaterThan(0);

  // The directory counts, shows and finds it.
  await mara.goto('/teams');
  const card = mara.getByRole('list', { name: 'Teams' }).getByRole('link', { name: /Harbour/ });
  await card.getByText('2 members · 1 asset').waitFor();
  await card.getByText('Following').waitFor();
  await mara.getByLabel('Search teams').fill('all of');
  await mara.waitForURL(/\?q=all/);
  await card.waitFor({ state: 'detached' });

  // A member without the right sees no controls except for leaving.
  await otto.goto(`/teams/${harbour}?show=members`);
  await otto.getByRole('button', { name: 'Leave' }).waitFor();
  await expect.poll(() => otto.getByRole('button', { name: /Edit|Picture|Place|Close|Add/ }).count()).toBe(0);
  await otto.getByRole('button', { name: 'Leave' }).click();
  await otto.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
  await otto.getByRole('link', { name: 'Otto Brandt' }).waitFor({ state: 'detached' });

  // Removes it from under the other team, and closes it.
  await mara.goto(`/teams/${harbour}`);
  await mara.getByRole('button', { name: 'Remove from All of the studio' }).click();
  await confirmation.getByRole('button', { name: 'Remove' }).click();
  await above.waitFor({ state: 'detached' });
  await mara.getByRole('button', { name: 'Close team' }).click();
  await confirmation.getByRole('button', { name: 'Close team' }).click();
  await mara.waitForURL(`${studio.address}/teams`);
  await mara.getByRole('link', { name: /All of the studio/ }).waitFor();
  await expect.poll(() => mara.getByRole('link', { name: /Harbour/ }).count()).toBe(0);
  await otto.goto(`/teams/${harbour}`);
  await otto.getByText('Team not found').waitFor();
  expect(studio.faults).toEqual([]);
});

test('previews, applies, removes and reapplies a logo; fonts and name appear on the page', async () => {
  const visitor = await studio.openPage();
  await mara.goto('/admin/appearance');
  const header = mara.getByRole('banner');
  const preview = mara.getByRole('group', { name: 'Preview of the header' });
  const pick = mara.getByLabel('Choose a logo');
  const file = async (width: number, height: number) => ({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: Buffer.from(await png(width, height)),
  });

  // A preview shows before sending; an invalid logo is refused with a message and changes nothing.
  await pick.setInputFiles(await file(12, 40));
  await expect.poll(() => preview.locator('img[src^="blob:"]').count()).toBe(2);
  await expect.poll(() => header.locator('img[data-logo]').count()).toBe(0);
  await mara.getByRole('button', { name: 'Use this logo' }).click();
  await mara.getByRole('alert').filter({ hasText: '16' }).waitFor();
  await mara.getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => preview.locator('img').count()).toBe(0);

  await pick.setInputFiles(await file(240, 80));
  await mara.getByRole('button', { name: 'Use this logo' }).click();
  const logo = header.locator('img[data-logo]');
  await logo.waitFor();
  await expect.poll(() => naturalWidth(logo)).toBe(240);
  const box = await logo.boundingBox();
  expect(Math.round((box?.width ?? 0) / (box?.height ?? 1))).toBe(3);

  // Visitors see it too, with the chosen fonts and the new name.
  await mara.getByLabel('Headings').selectOption('system-serif');
  await mara.getByLabel('Text', { exact: true }).selectOption('system-sans');
  const chosen = mara.waitForResponse(/\/admin\/system\/appearance$/);
  await mara.getByRole('button', { name: 'Save fonts' }).click();
  await chosen;
  await mara.goto('/admin/site');
  await mara.getByLabel('Name of the library').fill('Studio South');
  await mara.getByLabel('Public address').fill('https://photos.example.org');
  await mara.getByRole('region', { name: 'Name and address' }).getByRole('button', { name: 'Save' }).click();
  await header.getByText('Studio South').waitFor();
  await visitor.goto('/sign-in');
  await visitor.locator('img[data-logo]').waitFor();
  const heading = visitor.getByRole('heading', { name: 'Sign in to Studio South' });
  await expect.poll(() => heading.evaluate((h) => getComputedStyle(h).fontFamily)).toMatch(/^ui-serif/);
  await expect
    .poll(() => visitor.evaluate(() => getComputedStyle(document.body).fontFamily))
    .toMatch(/^ui-sans-serif/);

  // Restores the default logo, and then a recent one.
  await mara.goto('/admin/appearance');
  await mara.getByRole('button', { name: 'Use the Vitrine mark again' }).click();
  await header.locator('svg[data-logo]').waitFor();
  await expect.poll(() => logo.count()).toBe(0);
  await mara.getByRole('button', { name: 'Use the logo of 240 × 80 again' }).click();
  await logo.waitFor();

  // A logo whose bytes are missing is marked, and cannot be chosen.
  await mara.getByRole('button', { name: 'Use the Vitrine mark again' }).click();
  await header.locator('svg[data-logo]').waitFor();
  const { logo_history } = await call(mara, 'GET', '/admin/system/appearance');
  const stored = await readdir(studio.directory, { recursive: true });
  const bytes = stored.filter((name) => name.includes('logo') && name.endsWith(logo_history[0].hash));
  expect(bytes).toHaveLength(1);
  await rm(join(studio.directory, bytes[0] ?? ''));
  await mara.reload();
  await mara.getByText('Unavailable: its file cannot be read').waitFor();
  await expect.poll(() => mara.getByRole('button', { name: /Use the logo of/ }).count()).toBe(0);
  expect(studio.faults).toEqual([]);
});
