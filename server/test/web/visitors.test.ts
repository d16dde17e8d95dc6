import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, uploadReady } from './call.ts';
import { visit } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let visitor: Page;
let post: string;
let asset: string;

beforeAll(async () => {
  studio = await openStudio();
  const mara = await studio.enter('mara');
  asset = await uploadReady(mara, await jpeg(300, 200), { title: 'Pier', tags: 'harbour' });
  const publish = async (title: string, visibility: string) => {
    const body = { title, tags: ['harbour'], visibility, members: [{ asset_id: asset }] };
    return (await call(mara, 'POST', '/posts', body)).id;
  };
  post = await publish('Open harbour', 'public');
  await publish('Closed harbour', 'org-only');
  const { id } = await call(mara, 'POST', '/collections', { name: 'Postcards', visibility: 'public' });
  await call(mara, 'PUT', `/collections/${id}/posts/${post}`);
  await call(mara, 'POST', `/posts/${post}/comments`, { body: 'Still here' });
  await call(mara, 'PUT', '/system/public-mode', { enabled: true });
  visitor = await studio.openPage({ viewport: { width: 375, height: 900 } });
});

afterAll(() => studio.close());

test('a visitor searches, follows tags and names, and finds only public posts and no controls', async () => {
  const openPost = visitor.getByRole('link', { name: /Open harbour/ }).first();
  const look = async () => {
    await openPost.waitFor();
    expect(await visitor.getByText('Closed harbour').count(), visitor.url()).toBe(0);
    const controls = visitor
      .getByRole('main')
      .getByRole('button', { name: /Save|Edit|Arrange|Views|Follow/ });
    expect(await controls.allInnerTexts(), visitor.url()).toEqual([]);
  };
  await visitor.goto('/?show=trending');
  await visitor.getByRole('link', { name: 'Trending' }).waitFor();
  expect(await visitor.getByRole('link', { name: 'Following' }).count()).toBe(0);
  await look();
  await visitor.getByRole('link', { name: 'Collections' }).click();
  await visitor.getByRole('link', { name: /^Postcards/ }).click();
  await visitor.getByRole('heading', { name: 'Postcards', level: 1 }).waitFor();
  await look();
  await visit(visitor, `/assets/${asset}`);
  await visitor
    .getByRole('list', { name: 'Tags' })
    .getByRole('link', { name: /harbour/ })
    .click();
  await visitor.waitForURL(/\/tags\/harbour$/);
  await look();
  await visit(visitor, '/users/mara');
  await look();
  await visit(visitor, '/search?q=harbour');
  await look();

  await visit(visitor, `/posts/${post}`);
  await visitor.getByText('Still here').waitFor();
  const link = visitor.getByRole('link', { name: 'Sign in to comment' });
  await expect
    .poll(() => link.getAttribute('href'))
    .toBe(`/sign-in?next=${encodeURIComponent(`/posts/${post}`)}`);
  expect(await visitor.getByRole('button', { name: /^Like/ }).count()).toBe(0);
  await visit(visitor, '/requests');
  await visitor.waitForURL(/\/sign-in\?next=/);
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
