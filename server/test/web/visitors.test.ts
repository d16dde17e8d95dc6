import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, settled, upload } from './call.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let visitor: Page;
let post: string;
let asset: string;

beforeAll(async () => {
  studio = await openStudio();
  const mara = await studio.enter('mara');
  asset = (await upload(mara, await jpeg(900, 600), { title: 'Pier', tags: 'harbour' })).id;
  await settled(mara, asset);
  const publish = async (title: string, visibility: string) =>
    (
      await call(mara, 'POST', '/posts', {
        title,
        tags: ['harbour'],
        visibility,
        members: [{ asset_id: asset }],
      })
    ).id;
  post = await publish('Open harbour', 'public');
  await publish('Closed harbour', 'org-only');
  await call(mara, 'PUT', '/system/public-mode', { enabled: true });
  visitor = await studio.openPage();
});

afterAll(() => studio.close());

const openPost = () => visitor.getByRole('link', { name: /Open harbour/ }).first();

test('a visitor finds only public posts', async () => {
  await visitor.goto('/');
  const box = visitor.getByRole('combobox', { name: 'Search' });
  await box.fill('harbour');
  await box.press('Enter');
  await visitor.waitForURL(/\/search\?/);
  await openPost().waitFor();
  expect(await visitor.getByText('Closed harbour').count()).toBe(0);
});

test('a visitor opens the tag of a file and a profile', async () => {
  await visitor.goto(`/assets/${asset}`);
  await visitor
    .getByRole('list', { name: 'Tags' })
    .getByRole('link', { name: /harbour/ })
    .click();
  await visitor.waitForURL(/\/tags\/harbour$/);
  await openPost().waitFor();
  expect(await visitor.getByText('Closed harbour').count()).toBe(0);
  await visitor.goto('/users/mara');
  await openPost().waitFor();
  expect(await visitor.getByText('Closed harbour').count()).toBe(0);
  expect(studio.faults).toEqual([]);
});

test('a public page has its title and metadata before scripts run', async () => {
  const text = await (await fetch(`${studio.address}/posts/${post}`)).text();
  expect(text).toContain('<title>Open harbour · Studio North</title>');
  expect(text).toContain('property="og:image"');
  expect(text).not.toContain('content="noindex"');
  expect(await (await fetch(`${studio.address}/sign-in`)).text()).toContain('content="noindex"');
  await visitor.goto(`/posts/${post}`);
  await visitor.getByRole('heading', { name: 'Open harbour' }).waitFor();
  expect(await visitor.title()).toBe('Open harbour · Studio North');
});
