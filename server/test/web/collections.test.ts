import type { Collection } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, fileOf, publish, uploadReady } from './call.ts';
import {
  attributesOf,
  drag,
  holdBack,
  isFocused,
  naturalWidth,
  overhang,
  placeIn,
  showMore,
  visit,
} from './hands.ts';
import { openStudio } from './studio.ts';

const names = ['Pier', 'Gull', 'Rope', 'Crane', 'Fog'] as const;

const assets = new Map<string, string>();
const posts = new Map<string, string>();

const postId = (title: string): string => posts.get(title) ?? '';

async function read(page: Page, id: string): Promise<Collection> {
  return call(page, 'GET', `/collections/${id}`);
}

/** Returns the titles of the posts of a collection from the service, with this page's session. */
async function titlesIn(page: Page, id: string): Promise<string[]> {
  const { items }: { items: Post[] } = await call(page, 'GET', `/collections/${id}/posts`);
  return items.map((post) => post.title);
}

async function makeCollection(name: string, titles: readonly string[], given = {}): Promise<string> {
  const { id } = await call(ana, 'POST', '/collections', { name, ...given });
  for (const title of titles) await call(ana, 'PUT', `/collections/${id}/posts/${postId(title)}`);
  return id;
}

async function openCollection(page: Page, id: string, search = ''): Promise<void> {
  await visit(page, `/collections/${id}${search}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Returns the titles of the tiles in the order shown. */
async function shownTitles(page: Page): Promise<string[]> {
  const ids = await attributesOf(page.locator('[data-arranged]'), 'data-arranged');
  const titles = new Map([...posts].map(([title, id]) => [id, title]));
  return ids.map((id) => titles.get(id ?? '') ?? '?');
}

const tileOf = (page: Page, title: string) =>
  page.locator(`[data-arranged="${postId(title)}"] > div > div`).first();
const saveButton = (page: Page, title: string) =>
  page.getByRole('button', { name: `Save ${title} to a collection` });

const studio = await openStudio();
const mara = await studio.enter('mara');
/** Ana creates collections, Ben views them, Mara administers. */
const ana = await studio.join('ana', 'Ana Sol');
const ben = await studio.join('ben', 'Ben Iyer');
// The app keeps the definitions of fields that it has read.
const season = { code: 'season', label: 'Season', type: 'text', subject_kind: 'collection' };
await call(mara, 'POST', '/fields', season);
for (const [at, title] of names.entries()) {
  const [width, height] = at % 2 === 0 ? [300, 200] : [200, 300];
  assets.set(title, await uploadReady(ana, await jpeg(width, height, { seed: at + 1 }), { title }));
  posts.set(title, await publish(ana, title, [assets.get(title) ?? '']));
}

test('creates a collection, adds posts from the feed and from a post, and lists it among the user’s own', async () => {
  await ana.goto('/');
  await ana.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Collections' }).click();
  await ana.getByText('No collections yet').waitFor();
  await ana.getByRole('button', { name: 'New collection' }).click();
  const dialog = ana.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Harbour');
  await dialog.getByLabel('Description').fill('What the tide left');
  await dialog.getByRole('radio', { name: /^Only you/ }).check();
  await dialog.getByRole('button', { name: 'Create collection' }).click();
  await ana.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  await ana.getByText('Nothing here yet').waitFor();
  const id = new URL(ana.url()).pathname.split('/').at(-1) ?? '';
  const made = { description: 'What the tide left', visibility: 'private' };
  await expect.poll(() => read(ana, id)).toMatchObject(made);

  // From a card of the feed, by keyboard; the button that opened the dialog has the focus again.
  await ana.getByRole('link', { name: 'To the feed' }).click();
  await saveButton(ana, 'Gull').focus();
  await ana.keyboard.press('Enter');
  await dialog.getByRole('checkbox', { name: /Harbour/ }).waitFor();
  await expect.poll(() => dialog.getByRole('checkbox', { name: /Harbour/ }).isChecked()).toBe(false);
  await dialog.getByRole('checkbox', { name: /Harbour/ }).press('Space');
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Gull']);
  await ana.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(() => isFocused(saveButton(ana, 'Gull'))).toBe(true);

  // From the post's page: unchecking removes it, and a new collection contains it at once.
  await visit(ana, `/posts/${postId('Gull')}`);
  await saveButton(ana, 'Gull').click();
  await expect.poll(() => dialog.getByRole('checkbox', { name: /Harbour/ }).isChecked()).toBe(true);
  await dialog.getByRole('checkbox', { name: /Harbour/ }).uncheck();
  await expect.poll(() => titlesIn(ana, id)).toEqual([]);
  await dialog.getByRole('button', { name: 'New collection' }).click();
  await dialog.getByLabel('Name of the new collection').fill('Birds');
  await dialog.getByRole('button', { name: 'Create and save' }).click();
  await expect.poll(() => dialog.getByRole('checkbox', { name: /Birds/ }).isChecked()).toBe(true);
  await dialog.getByRole('button', { name: 'Done' }).click();

  await visit(ana, '/collections');
  const cards = ana.getByRole('list', { name: 'Collections' });
  await cards.getByRole('link', { name: /Harbour.*Only you/ }).waitFor();
  const picture = cards.getByRole('link', { name: /Birds.*1 post/ }).locator('img');
  await expect.poll(() => naturalWidth(picture)).toBeGreaterThan(0);

  // Another user sees only the public one, and no actions that change it.
  await visit(ben, '/collections');
  await ben.getByText('No collections yet').waitFor();
  await ben.getByRole('link', { name: 'Everyone’s' }).click();
  await ben.getByRole('link', { name: /Birds.*by Ana Sol/ }).click();
  await ben.getByRole('heading', { name: 'Birds', level: 1 }).waitFor();
  await ben.getByRole('link', { name: /^Gull/ }).waitFor();
  expect(await ben.getByRole('button', { name: /^(Edit|Share|More)$/ }).count()).toBe(0);
});

test('reorders by mouse, touch and keyboard, also while responses are slow', async () => {
  const id = await makeCollection('Walk', names);
  await openCollection(ana, id);
  await ana.getByRole('link', { name: 'Arrange' }).click();
  await tileOf(ana, 'Fog').waitFor();
  await expect.poll(() => shownTitles(ana)).toEqual([...names]);

  // By pointer: the last before the first. Escape puts it back, and nothing is sent.
  const [from, to] = [await placeIn(tileOf(ana, 'Fog')), await placeIn(tileOf(ana, 'Pier'))];
  await ana.mouse.move(from.x, from.y);
  await ana.mouse.down();
  await ana.mouse.move(to.x, to.y, { steps: 6 });
  await expect.poll(() => shownTitles(ana)).toEqual(['Fog', 'Pier', 'Gull', 'Rope', 'Crane']);
  await ana.keyboard.press('Escape');
  await ana.mouse.up();
  await expect.poll(() => shownTitles(ana)).toEqual([...names]);
  await drag(ana, await placeIn(tileOf(ana, 'Fog')), await placeIn(tileOf(ana, 'Pier')));
  await ana.getByText('Saved.', { exact: true }).waitFor();
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Fog', 'Pier', 'Gull', 'Rope', 'Crane']);

  // By keyboard, faster than the responses: every step appears at once, and all are saved.
  const orders = await holdBack(ana, '**/order');
  const on = ana.getByRole('button', { name: 'Move Fog later' });
  await on.focus();
  for (let step = 0; step < 3; step += 1) await ana.keyboard.press('Enter');
  await ana.getByRole('button', { name: 'Move Crane earlier' }).click();
  await expect.poll(() => shownTitles(ana)).toEqual(['Pier', 'Gull', 'Rope', 'Crane', 'Fog']);
  await ana.getByText('Saving…', { exact: true }).waitFor();
  expect(await titlesIn(ana, id)).toEqual(['Fog', 'Pier', 'Gull', 'Rope', 'Crane']);
  orders.letGo();
  await ana.getByText('Saved.', { exact: true }).waitFor();
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Pier', 'Gull', 'Rope', 'Crane', 'Fog']);
  await expect.poll(() => shownTitles(ana)).toEqual(['Pier', 'Gull', 'Rope', 'Crane', 'Fog']);

  // A concurrent change by another user appears after the next step, and both are kept.
  await call(mara, 'DELETE', `/collections/${id}/posts/${postId('Rope')}`);
  await ana.getByRole('button', { name: 'Remove Pier' }).click();
  await expect.poll(() => shownTitles(ana)).toEqual(['Gull', 'Crane', 'Fog']);
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Gull', 'Crane', 'Fog']);

  // A post that another user removed cannot be moved; the page says so and shows the current list.
  await call(mara, 'DELETE', `/collections/${id}/posts/${postId('Crane')}`);
  await ana.getByRole('button', { name: 'Move Crane earlier' }).click();
  await ana.getByRole('alert').getByText('The collection has changed').waitFor();
  await expect.poll(() => shownTitles(ana)).toEqual(['Gull', 'Fog']);

  // By touch, on the handle.
  const touch = await ana.context().newCDPSession(ana);
  await touch.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  const onto = await placeIn(tileOf(ana, 'Gull'));
  const handle = await placeIn(ana.locator(`[data-arranged="${postId('Fog')}"] [data-handle]`));
  const at = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]) =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  await at('touchStart', [handle]);
  await at('touchMove', [{ x: (handle.x + onto.x) / 2, y: (handle.y + onto.y) / 2 }]);
  await at('touchMove', [onto]);
  await expect.poll(() => shownTitles(ana)).toEqual(['Fog', 'Gull']);
  await at('touchEnd', []);
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Fog', 'Gull']);
  await touch.send('Emulation.setTouchEmulationEnabled', { enabled: false });
});

test('moves an entry beyond the last loaded page, and reverts a failed move', async () => {
  const id = await makeCollection('Jetty', names);
  // Pages of three entries; the second one is still loading.
  const loading = Promise.withResolvers<void>();
  await ana.route(new RegExp(`/collections/${id}/items(\\?|$)`), async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '3');
    if (url.searchParams.has('cursor')) await loading.promise;
    await route.continue({ url: url.href });
  });
  await openCollection(ana, id, '?show=order');
  await ana.getByRole('button', { name: 'Move Gull later' }).click();
  await expect.poll(() => shownTitles(ana)).toEqual(['Pier', 'Rope', 'Gull']);
  loading.resolve();
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Pier', 'Rope', 'Gull', 'Crane', 'Fog']);
  await expect.poll(() => shownTitles(ana)).toEqual(['Pier', 'Rope', 'Gull', 'Crane', 'Fog']);

  await ana.route('**/order', (route) => route.abort());
  await ana.getByRole('button', { name: 'Move Rope earlier' }).click();
  await ana.getByRole('alert').getByText('The server cannot be reached').waitFor();
  await expect.poll(async () => (await shownTitles(ana)).slice(0, 2)).toEqual(['Pier', 'Rope']);
  await ana.unrouteAll({ behavior: 'wait' });
});

test('chooses a cover, and keeps the changes of two concurrent editors', async () => {
  const id = await makeCollection('Quay', ['Pier', 'Gull', 'Rope']);
  await openCollection(ana, id);
  const dialog = ana.getByRole('dialog');
  await showMore(ana);
  await ana.getByRole('button', { name: 'Cover' }).click();
  await dialog.getByRole('button', { name: 'Gull' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const saved = await read(ana, id);
  expect(saved.cover_post_id).toBe(postId('Gull'));
  expect(saved.covers[0]?.asset_id).toBe(assets.get('Gull'));
  const large = ana.locator(`#main img[src*="${assets.get('Gull')}/variants/preview"]`).first();
  await expect.poll(() => naturalWidth(large)).toBeGreaterThan(0);

  // Mara renames it while Ana writes a description: Ana sees a conflict, and saving again keeps both changes.
  await ana.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Description').fill('Where the ferries land');
  await call(mara, 'PATCH', `/collections/${id}`, { name: 'Old quay' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('The collection has changed').waitFor();
  await expect.poll(async () => (await read(ana, id)).description).toBe('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const both = { name: 'Old quay', description: 'Where the ferries land' };
  await expect.poll(() => read(ana, id)).toMatchObject(both);
  await ana.getByRole('heading', { name: 'Old quay', level: 1 }).waitFor();
  await expect.poll(() => ana.title()).toMatch(/^Old quay · /);
});

test('recipients open a shared collection and see only what they may read', async () => {
  const own = await publish(ana, 'Hidden fog', [assets.get('Fog') ?? ''], { visibility: 'private' });
  const id = await makeCollection('For Ben', ['Pier', 'Crane'], { visibility: 'private' });
  await call(ana, 'PUT', `/collections/${id}/posts/${own}`);
  await openCollection(ana, id);
  await ana.getByText('3 posts').waitFor();
  await ana.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = ana.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Only for named people' }).click();
  await dialog.getByText('Opened by: People you choose.').waitFor();
  await dialog.getByLabel('Add a person').fill('ben');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByRole('list', { name: 'People it is shared with' }).getByText('Ben Iyer').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();

  await openCollection(ben, id);
  await ben.getByText('2 posts').waitFor();
  await ben.getByRole('link', { name: /^Crane/ }).waitFor();
  expect(await ben.getByText('Hidden fog').count()).toBe(0);
  await openCollection(ben, id, '?show=order');
  await ben.getByRole('link', { name: /^Crane/ }).waitFor();
  expect(await ben.locator('[data-arranged]').count()).toBe(0);

  await ana.getByRole('button', { name: 'Share', exact: true }).click();
  await dialog.getByRole('button', { name: 'Remove Ben Iyer' }).click();
  await dialog.getByText('No one yet.').waitFor();
  await ana.keyboard.press('Escape');
  await ben.reload();
  await ben.getByText('Collection not found').waitFor();
});

test('adds a new post to a collection and a team, and restores a deleted collection', async () => {
  const id = await makeCollection('Incoming', []);
  const team = (await call(mara, 'POST', '/teams', { name: 'Dockers' })).id;
  const { ref } = await call(ana, 'GET', '/auth/me');
  await call(mara, 'PUT', `/teams/${team}/members/${ref}`);
  await visit(ana, '/new');
  await ana.getByLabel('Choose files').setInputFiles(fileOf('buoy.jpg', await jpeg(300, 200, { seed: 9 })));
  await ana.getByLabel('Title', { exact: true }).fill('Buoy');
  await ana.getByLabel('Team', { exact: true }).selectOption('Dockers');
  await ana.getByLabel('Add to collection').selectOption('Incoming');
  await ana.getByRole('button', { name: 'Publish' }).click();
  await ana.getByRole('heading', { name: 'Buoy', level: 1 }).waitFor();
  const post = new URL(ana.url()).pathname.split('/').at(-1) ?? '';
  await expect.poll(() => titlesIn(ana, id)).toEqual(['Buoy']);
  await expect.poll(async () => (await call(ana, 'GET', `/posts/${post}`)).team_id).toBe(team);

  await openCollection(ana, id);
  await showMore(ana);
  await ana.getByRole('button', { name: 'Delete' }).click();
  await ana.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await ana.waitForURL(`${studio.address}/collections`);
  await visit(ana, '/trash');
  await ana.getByText(/^Collection, deleted/).waitFor();
  await ana.getByRole('button', { name: 'Restore Incoming' }).click();
  await ana.getByRole('link', { name: 'Open it' }).click();
  await ana.getByRole('heading', { name: 'Incoming', level: 1 }).waitFor();
  await ana.getByRole('link', { name: /^Buoy/ }).waitFor();
});

test('edits metadata of a collection and shows it on its page', async () => {
  const id = await makeCollection('By season', []);
  await openCollection(ana, id);
  await ana.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = ana.getByRole('dialog');
  await form.getByRole('textbox', { name: 'Season' }).fill('Late summer');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await ana.getByText('Late summer').waitFor();
  const { items } = await call(ana, 'GET', `/collections/${id}/fields`);
  expect(items).toMatchObject([{ field_code: 'season', value_text: 'Late summer', set_by: 'manual' }]);
});

// COLLECTION-20, COLLECTION-23
test('holds files among posts at a desk, and a search fills another on a narrow screen', async () => {
  const id = await makeCollection('Mixed', ['Pier']);
  const file = assets.get('Rope') ?? '';
  await visit(ana, `/assets/${file}`);
  await saveButton(ana, 'Rope').click();
  const dialog = ana.getByRole('dialog');
  await dialog.getByRole('checkbox', { name: 'Mixed' }).check();
  const stored = async () => (await call(ana, 'GET', `/collections/${id}/items`)).items;
  await expect.poll(stored).toHaveLength(2);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await openCollection(ana, id);
  await ana.getByText('2 items').waitFor();
  const items = ana.getByRole('list', { name: 'Items of this collection' });
  await items.getByRole('link', { name: 'Pier, post' }).waitFor();
  await items.getByRole('link', { name: 'Rope' }).waitFor();

  // By keyboard, the file before the post.
  await ana.getByRole('link', { name: 'Arrange' }).click();
  await ana.getByRole('button', { name: 'Move Rope earlier' }).focus();
  await ana.keyboard.press('Enter');
  await ana.getByText('Saved.', { exact: true }).waitFor();
  await expect
    .poll(async () => (await attributesOf(ana.locator('[data-arranged]'), 'data-arranged'))[0])
    .toBe(file);
  await ana.getByRole('link', { name: 'Done arranging' }).click();
  await items.getByRole('link').first().waitFor();
  for (const width of [1440, 390]) {
    await ana.setViewportSize({ width, height: 900 });
    expect(await overhang(ana), `at ${width}`).toBe(0);
  }

  // All of it, the file of the post included, as a ZIP.
  const [download] = await Promise.all([
    ana.waitForEvent('download'),
    ana.getByRole('button', { name: 'Download all' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('Mixed.zip');
  await ana.getByText(/^Downloading 2 files/).waitFor();

  await visit(ana, '/search?q=Gull&kind=asset');
  await ana.getByRole('button', { name: 'Make a smart collection' }).click();
  await dialog.getByLabel('Name').fill('Gulls');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await ana.getByRole('heading', { name: 'Gulls', level: 1 }).waitFor();
  await ana.getByText('1 item', { exact: true }).waitFor();
  await items.getByRole('link', { name: 'Gull' }).waitFor();
  expect(await ana.getByRole('link', { name: 'Arrange' }).count()).toBe(0);
  await ana.getByRole('link', { name: 'this search' }).click();
  await ana.getByRole('heading', { name: /Gull/, level: 1 }).waitFor();
});

// DOWNLOAD-2
test('an administrator defines a form, in which a file is downloaded at a desk and an archive on a narrow screen', async () => {
  await ana.setViewportSize({ width: 1440, height: 900 });
  await visit(mara, '/admin/downloads');
  await mara.getByRole('button', { name: 'Add a preset' }).click();
  await mara.getByLabel('Key').last().fill('tiny');
  await mara.getByLabel('Label').last().fill('Tiny');
  await mara.getByLabel('Format').last().selectOption('png');
  await mara.getByLabel('Longest edge in pixels').last().fill('20');
  await mara.getByRole('button', { name: 'Save' }).click();
  const keys = async (): Promise<string[]> =>
    (await call(mara, 'GET', '/downloads')).presets.map(({ key }: { key: string }) => key);
  await expect.poll(keys).toContain('tiny');
  for (const width of [1440, 390]) {
    await mara.setViewportSize({ width, height: 900 });
    expect(await overhang(mara), `at ${width}`).toBe(0);
  }

  // Loads the page anew, because the app keeps the presets that it has just read.
  await ana.goto(`/assets/${assets.get('Pier')}`);
  await ana.getByRole('button', { name: 'Download as' }).click();
  const [download] = await Promise.all([
    ana.waitForEvent('download'),
    ana.getByRole('menuitem', { name: 'Tiny' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.png$/);

  // A ZIP of files in that form (ARCHIVE-8).
  await ana.setViewportSize({ width: 390, height: 900 });
  const id = await makeCollection('Shoot', ['Pier', 'Gull']);
  await openCollection(ana, id);
  const notices = ana.getByRole('region', { name: 'Changes and downloads' });
  const downloadAll = async () => {
    await ana.getByRole('button', { name: 'Download as' }).click();
    await ana.getByRole('menuitem', { name: 'Tiny' }).click();
  };
  const [zip] = await Promise.all([ana.waitForEvent('download'), downloadAll()]);
  expect(zip.suggestedFilename()).toBe('Shoot.zip');
  await notices.getByText('2 files packed').waitFor();
  await notices.getByRole('button', { name: 'Close' }).click();
  await notices.waitFor({ state: 'detached' });

  // Nothing is packed while the browser is sent elsewhere for the bytes.
  const creating = /\/api\/v1\/archives$/;
  await ana.route(creating, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), url: '/api/v1/nothing' } });
  });
  await downloadAll();
  await notices.getByText('0 of 2 files ready').waitFor();
  await notices.getByRole('progressbar', { name: 'Files that are ready' }).waitFor();
  for (const width of [390, 1440]) {
    await ana.setViewportSize({ width, height: 900 });
    expect(await overhang(ana), `at ${width}`).toBe(0);
  }
  await notices.getByRole('button', { name: 'Cancel' }).click();
  await notices.waitFor({ state: 'detached' });
  await ana.unroute(creating);
});
