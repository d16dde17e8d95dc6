import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { openStudio, password, type Studio } from './studio.ts';

let studio: Studio;
let mara: Page;
const refs = new Map<string, number>();

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  for (const username of ['named', 'fan', 'mate', 'other']) {
    const { ref } = await call(mara, 'POST', '/admin/users', { username, password, role: 'member' });
    refs.set(username, ref);
  }
});

afterAll(() => studio?.close());

test('each audience sees its own posts and files only', async () => {
  const bytes = await jpeg(300, 200);
  const team = (await call(mara, 'POST', '/teams', { name: 'Piers' })).id;
  await call(mara, 'PUT', `/teams/${team}/members/${refs.get('mate')}`);
  const fan = await studio.enter('fan');
  const me = await call(mara, 'GET', '/auth/me');
  await call(fan, 'POST', `/users/${me.ref}/follow`);

  const publish = async (title: string, visibility: string) => {
    const asset_id = await uploadReady(mara, bytes, { title, sensitivity: 'posts' });
    const post = await call(mara, 'POST', '/posts', { title, visibility, members: [{ asset_id }] });
    return post.id;
  };
  await publish('Alpha', 'private');
  await call(mara, 'PUT', `/posts/${await publish('Bravo', 'explicit-share')}/shares/${refs.get('named')}`);
  await publish('Charlie', 'followers');
  await publish('Echo', 'org-only');
  await publish('Foxtrot', 'public');
  await uploadReady(mara, bytes, { title: 'Delta', sensitivity: 'team', team_id: team });
  await call(mara, 'PUT', '/system/public-mode', { enabled: true });

  /** The initials of what a page lists, once it shows the post that everybody sees. */
  const shown = async (page: Page, path: string, list: string) => {
    await page.goto(path);
    await page
      .getByRole('list', { name: list })
      .getByRole('link', { name: /^Foxtrot/ })
      .waitFor();
    const links = page
      .getByRole('list', { name: list })
      .getByRole('link', { name: /^(Alpha|Bravo|Charlie|Delta|Echo|Foxtrot)/ });
    const labels = await links.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
    return labels
      .map((label) => label.slice(0, 1))
      .sort()
      .join('');
  };
  const expected = { mara: 'ABCEF', named: 'BEF', fan: 'CEF', mate: 'EF', other: 'EF' };
  for (const [username, letters] of Object.entries(expected)) {
    const page = username === 'fan' ? fan : username === 'mara' ? mara : await studio.enter(username);
    expect(await shown(page, '/', 'Posts'), username).toBe(letters);
    if (username === 'mate') expect(await shown(page, '/assets?of=everyone', 'Assets')).toBe('DEF');
    if (username === 'named') expect(await shown(page, '/assets?of=everyone', 'Assets')).toBe('BEF');
  }
  const visitor = await studio.openPage();
  expect(await shown(visitor, '/', 'Posts')).toBe('F');
  expect(studio.faults).toEqual([]);
});

test('a new post warns about a file with a wider audience and can restrict it to the post’s', async () => {
  await call(mara, 'PATCH', '/admin/system/site', { default_sensitivity: 'public' });
  await mara.goto('/new');
  const file = { name: 'tide.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(320, 200)) };
  await mara.getByLabel('Choose files').setInputFiles([file]);
  const row = mara.getByRole('list', { name: 'Files of this post' }).getByRole('listitem');
  const warning = mara.getByRole('region', { name: 'Files with a wider audience' });
  await warning.getByText('tide.jpg').waitFor();
  expect(await row.textContent()).toContain('Everyone, including visitors');
  await mara.getByLabel('Everyone, including visitors').check();
  await warning.waitFor({ state: 'detached' });
  await mara.getByLabel('Only you').check();
  await warning.getByRole('button', { name: 'Let it follow the post' }).click();
  await warning.waitFor({ state: 'detached' });
  expect(await row.textContent()).toContain('Only you, as the post');
  const [asset] = (await call(mara, 'GET', '/assets?limit=1')).items;
  expect(asset.sensitivity).toBe('posts');
});

test('an administrator restricts only the selected files', async () => {
  const exposed = [];
  for (const title of ['Kilo', 'Lima']) exposed.push(await uploadReady(mara, await jpeg(40, 30), { title }));
  await mara.goto('/admin/exposed');
  await mara.getByRole('checkbox', { name: 'Select Kilo' }).check();
  await mara.getByRole('button', { name: 'Restrict 1 file' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Restrict 1 file' }).click();
  await mara.getByRole('checkbox', { name: 'Select Kilo' }).waitFor({ state: 'detached' });
  await mara.getByRole('checkbox', { name: 'Select Lima' }).waitFor();
  const after = await Promise.all(exposed.map((id) => call(mara, 'GET', `/assets/${id}`)));
  expect(after.map((asset) => asset.sensitivity)).toEqual(['posts', 'public']);
  expect(studio.faults).toEqual([]);
});
