import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { naturalWidth, overhang, phone } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let owner: Page;
let outsider: Page;
let post: string;
let address: string;

beforeAll(async () => {
  studio = await openStudio();
  owner = await studio.enter('mara');
  const first = await uploadReady(owner, await jpeg(600, 400), { title: 'Pier', sensitivity: 'posts' });
  const second = await uploadReady(owner, await jpeg(60, 90), { title: 'Quay', sensitivity: 'posts' });
  const members = [{ asset_id: first }, { asset_id: second }];
  post = (await call(owner, 'POST', '/posts', { title: 'Harbour', visibility: 'private', members })).id;
  outsider = await studio.openPage(phone);
});

afterAll(() => studio?.close());

const dialog = () => owner.getByRole('dialog');
const links = () => dialog().getByRole('region', { name: 'Links' });
const download = () => outsider.getByRole('link', { name: 'Download all' });

async function openDialog(): Promise<void> {
  await owner.goto(`/posts/${post}`);
  await owner.getByRole('button', { name: 'Share link' }).click();
}

test('the owner creates a link with a password, and a visitor opens it on a phone', async () => {
  await openDialog();
  await dialog().getByLabel('Label', { exact: true }).fill('For the client');
  await dialog().getByLabel('Password', { exact: true }).selectOption('set');
  await dialog().getByLabel('The password').fill('anchor');
  await dialog().getByRole('button', { name: 'Create link' }).click();
  address = new URL(await dialog().getByLabel('Address of the new link').inputValue()).pathname;

  await outsider.goto(address);
  await outsider.getByLabel('Password').fill('buoy');
  await outsider.getByRole('button', { name: 'Open' }).click();
  await outsider.getByText('That is not the password of this link.').waitFor();
  await outsider.getByLabel('Password').fill('anchor');
  await outsider.getByRole('button', { name: 'Open' }).click();
  await outsider.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
  await expect.poll(() => naturalWidth(outsider.getByRole('img', { name: 'Pier' }))).toBeGreaterThan(300);
  expect(await outsider.getByRole('listitem').count()).toBe(2);
  expect(await download().count()).toBe(0);
  expect(await overhang(outsider)).toBe(0);

  await outsider.getByRole('button', { name: 'Show Pier' }).click();
  const viewer = outsider.getByRole('dialog');
  await viewer.getByText('Pier').waitFor();
  await outsider.keyboard.press('ArrowRight');
  await viewer.getByText('Quay').waitFor();
  await outsider.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });
});

test('changed terms of a link apply at once and keep the others', async () => {
  await openDialog();
  await links().getByRole('button', { name: 'Change For the client' }).click();
  const form = dialog().getByRole('form', { name: 'Change the link' });
  await form.getByLabel('Password', { exact: true }).selectOption('none');
  await form.getByLabel('Downloads').click();
  await form.getByLabel('Watermark', { exact: true }).selectOption('own');
  await form.getByLabel('Text', { exact: true }).fill('Draft');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  await links().getByText('Downloads · Watermark “Draft”').waitFor();
  const [link] = (await call(owner, 'GET', `/posts/${post}/links`)).items;
  expect(link).toMatchObject({ label: 'For the client', has_password: false, watermark: 'Draft' });
  expect(Date.parse(link.expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);

  await outsider.reload();
  await download().waitFor();
});

test('a revoked or truncated link shows an error', async () => {
  await links().getByRole('button', { name: 'Revoke For the client' }).click();
  await links().waitFor({ state: 'detached' });
  for (const gone of [address, address.slice(0, -4)]) {
    await outsider.goto(gone);
    await outsider.getByRole('heading', { name: 'This link is no longer available' }).waitFor();
    expect(await outsider.getByText('Harbour').count(), gone).toBe(0);
  }
});
