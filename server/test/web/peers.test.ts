import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSetting } from '../../src/settings.ts';
import type { Library } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { naturalWidth, overhang } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';

type Home = Studio & { library: Library };
let harbour: Home;
let north: Home;
let ann: Page;
let ben: Page;
let post: string;

async function openHome(name: string): Promise<Home> {
  const home = await openStudio({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on' });
  await writeSetting(home.library.database.db, 'base_url', home.address);
  await writeSetting(home.library.database.db, 'site_name', name);
  return home;
}

beforeAll(async () => {
  [harbour, north] = await Promise.all([openHome('Harbour'), openHome('North')]);
  [ann, ben] = await Promise.all([harbour.enter('mara'), north.enter('mara')]);
  const asset = await uploadReady(ann, await jpeg(900, 600), { title: 'Quay', sensitivity: 'posts' });
  post = (await call(ann, 'POST', '/posts', { title: 'Morning at the quay', members: [{ asset_id: asset }] }))
    .id;
});

afterAll(async () => {
  await harbour?.close();
  await north?.close();
});

const peerOf = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Peers' }).getByRole('listitem').filter({ hasText: name });

async function accept(page: Page, name: string): Promise<void> {
  await peerOf(page, name).getByRole('button', { name: 'Accept…' }).click();
  await page.getByRole('button', { name: 'They are the same' }).click();
}

// FED-10, FED-11
test('administrators of two libraries compare fingerprints and pair them', async () => {
  await ann.goto('/admin/peers');
  await ann.getByLabel('Address of the other library').fill(north.address);
  await ann.getByRole('button', { name: 'Add', exact: true }).click();
  await accept(ann, 'North');
  await peerOf(ann, 'North').getByText('Waiting', { exact: true }).waitFor();
  await ben.goto('/admin/peers');
  await peerOf(ben, 'Harbour').getByText('Asks to be paired').waitFor();
  await accept(ben, 'Harbour');
  await peerOf(ben, 'Harbour').getByText('Connected', { exact: true }).waitFor();
  await peerOf(ann, 'North').getByText('Connected', { exact: true }).waitFor();
  expect(await overhang(ann)).toBe(0);
});

// FED-30, FED-32, FED-33, FED-34
test('a post is shared with a library, commented on there, and disappears when it is no longer shared', async () => {
  await ann.goto(`/posts/${post}`);
  await ann.getByRole('button', { name: 'Share with a library' }).click();
  await ann.getByRole('dialog').getByLabel('They can').selectOption('comment');
  await ann.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
  await ann.getByRole('region', { name: 'Shared with' }).getByText('Everyone there can comment').waitFor();

  const seen = async () => (await call(ben, 'GET', '/posts')).items.length;
  await expect.poll(seen, { timeout: 20_000 }).toBe(1);
  await ben.goto('/');
  await ben.getByText('mara, Harbour').waitFor({ state: 'attached' });
  await ben.getByLabel('Library', { exact: true }).selectOption('This library');
  await ben.getByText('mara, Harbour').waitFor({ state: 'detached' });
  await ben.getByLabel('Library', { exact: true }).selectOption('Other libraries');
  await ben.getByText('mara, Harbour').waitFor({ state: 'attached' });
  expect(await overhang(ben)).toBe(0);
  await ben
    .getByRole('link', { name: /Morning at the quay/ })
    .first()
    .click();
  await ben.getByText('shared from').waitFor();
  await expect
    .poll(() => naturalWidth(ben.getByRole('img', { name: /quay/i }).first()), { timeout: 20_000 })
    .toBeGreaterThan(300);
  await ben
    .getByRole('textbox', { name: /comment/i })
    .first()
    .fill('Lovely light');
  await ben
    .getByRole('button', { name: /^(Comment|Post|Send)/ })
    .first()
    .click();
  await ben.getByText('Lovely light').waitFor();

  const comments = async () => (await call(ann, 'GET', `/posts/${post}/comments`)).items.length;
  await expect.poll(comments, { timeout: 20_000 }).toBe(1);
  await ann.goto(`/posts/${post}`);
  await ann.getByText('Lovely light').waitFor();
  await ann.getByRole('button', { name: 'Share with a library' }).click();
  await ann.getByRole('button', { name: /^Stop sharing/ }).click();
  await expect.poll(seen, { timeout: 20_000 }).toBe(0);
  expect(harbour.faults).toEqual([]);
  expect(north.faults).toEqual([]);
});
