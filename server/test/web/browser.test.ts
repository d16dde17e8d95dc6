import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { listen } from '../support/listen.ts';
import { jpeg } from '../support/pictures.ts';
import { call, publish, uploadReady } from './call.ts';
import { accountButton, holdBack, openAsking, pathsAsked, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');
const stranger = await studio.openPage();

/** Returns the paths of full page loads from now on. */
const documentsOf = (page: Page) => pathsAsked(page, (request) => request.resourceType() === 'document');

test('a missing page shows one message', async () => {
  const documents = documentsOf(mara);
  await mara.goto('/nowhere/at/all');
  await mara.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  await mara.getByRole('link', { name: 'To the feed' }).click();
  await mara.getByRole('heading', { name: 'An empty showcase' }).waitFor();
  expect(documents).toEqual(['/nowhere/at/all']);
});

const nobody = '00000000-0000-4000-8000-000000000000';

test.each([
  [`/posts/${nobody}`, 'Post not found'],
  ['/posts/none', 'Post not found'],
  [`/posts/${nobody}/edit`, 'Post not found'],
  [`/assets/${nobody}`, 'Asset not found'],
  [`/collections/${nobody}`, 'Collection not found'],
  [`/teams/${nobody}`, 'Team not found'],
  ['/users/nobody', 'Profile not found'],
  ['/admin/users/4000', 'Account not found'],
  [`/admin/fields/${nobody}`, 'Field not found'],
])('%s inside the library says: %s', async (path, heading) => {
  await visit(mara, path);
  await mara.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await expect.poll(() => mara.title()).toBe(`${heading} · Studio North`);
  await accountButton(mara).waitFor();
  expect(await mara.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});

test('a page that fails to load says so and loads when asked again', async () => {
  const tags = /\/api\/v1\/tags\?/;
  await mara.route(tags, (route) => route.fulfill({ status: 500, json: { error: 'server error' } }));
  await visit(mara, '/tags');
  await mara.getByRole('heading', { name: 'The page could not be loaded' }).waitFor();
  await mara.unroute(tags);
  await mara.getByRole('button', { name: 'Try again' }).click();
  await mara.getByRole('heading', { name: 'Tags', level: 1 }).waitFor();
  await expect.poll(() => mara.title()).toBe('Tags · Studio North');
});

test('a page appears with its data, which it asks for once', async () => {
  const { letGo } = await holdBack(mara, /\/account\/trash/);
  const asked = pathsAsked(mara, (request) => request.url().includes('/account/trash'));
  const arriving = visit(mara, '/trash');
  await expect.poll(() => asked.length).toBe(1);
  expect(await mara.getByRole('heading', { level: 1 }).innerText()).toBe('Tags');
  letGo();
  await arriving;
  await mara.getByText('None of your content is in the trash.').waitFor();
  expect(asked).toHaveLength(1);
  await mara.unrouteAll({ behavior: 'wait' });
});

test('a post that was deleted elsewhere gives way to the error page', async () => {
  const asset = await uploadReady(mara, await jpeg(60, 40));
  const post = await publish(mara, 'Short-lived', [asset]);
  await mara.goto('/');
  const card = mara.getByRole('link', { name: 'Short-lived' });
  await card.waitFor();
  await call(mara, 'DELETE', `/posts/${post}`);
  await card.click();
  await mara.getByRole('heading', { name: 'Post not found' }).waitFor();
  await mara.getByRole('link', { name: 'To the feed' }).click();
});

test('keeps the page when the connection is lost and continues when it is back', async () => {
  const trending = mara.getByRole('link', { name: 'Trending', exact: true });
  const notice = mara.getByText(/^The connection to the library/).last();
  await trending.waitFor();
  await mara.context().setOffline(true);
  await trending.click();
  await expect.poll(() => notice.innerText()).toMatch(/lost\. Trying again/);
  expect(await trending.isVisible()).toBe(true);
  await mara.context().setOffline(false);
  await expect.poll(() => notice.isVisible()).toBe(false);
  await expect.poll(() => trending.getAttribute('aria-current')).toBe('page');
});

test('reloads a page opened before an upgrade when its files are gone', async () => {
  const documents = documentsOf(mara);
  // Until the page is reloaded, the server reports another version and lacks the old files.
  const gone = '**/_app/immutable/**';
  const version = '**/_app/version.json';
  await mara.route(gone, (route) => route.fulfill({ status: 404, body: 'not found' }));
  await mara.route(version, (route) => route.fulfill({ json: { version: 'newer' } }));
  await mara.route(
    (url) => url.pathname === '/tags',
    async (route) => {
      await mara.unroute(gone);
      await mara.unroute(version);
      await route.continue();
    },
  );
  await mara.getByRole('link', { name: 'All tags' }).click();
  await mara.getByRole('heading', { name: 'Tags', level: 1 }).waitFor();
  expect(documents).toEqual(['/tags']);
  expect(studio.faults.splice(0)).toEqual([
    // Whichever of its files the browser misses first.
    expect.stringMatching(/Failed to fetch|Unable to preload CSS/),
  ]);
  await mara.unrouteAll({ behavior: 'wait' });
});

test('browsers cache previews without revalidation and show none after sign-out', async () => {
  const id = await uploadReady(mara, await jpeg(300, 200));
  const { file_hash } = await call(mara, 'GET', `/assets/${id}`);
  const preview = `/api/v1/assets/${id}/variants/col?v=${file_hash}`;
  /** Requests the preview like a page; returns the bytes received over the network, or null if it is not shown. */
  const bytesFetched = () =>
    mara.evaluate(async (address) => {
      performance.clearResourceTimings();
      const response = await fetch(address);
      await response.arrayBuffer();
      if (!response.ok) return null;
      // The browser adds its entry shortly after the last byte.
      while (true) {
        const [entry] = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith(address));
        if (entry instanceof PerformanceResourceTiming) return entry.transferSize;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }, preview);
  expect(await bytesFetched()).toBeGreaterThan(0);
  expect(await bytesFetched()).toBe(0);
  await mara.reload();
  expect(await bytesFetched()).toBe(0);
  // The app leaves its page when it learns of the sign-out; a picture stays.
  await mara.goto('/favicon.svg');
  await mara.evaluate(() => fetch('/api/v1/auth/logout', { method: 'POST' }).then(({ status }) => status));
  expect(await bytesFetched()).toBeNull();
  const cached = mara.evaluate(async (address) => {
    const response = await fetch(address, { cache: 'only-if-cached', mode: 'same-origin' }).catch(() => null);
    return response?.ok === true;
  }, preview);
  expect(await cached).toBe(false);
  await mara.goto('/trash');
  await mara.waitForURL(/\/sign-in\?next=%2Ftrash$/);
});

test('shows when the first page of a visit retries after too many requests', async () => {
  const limited = { status: 429, headers: { 'retry-after': '3' }, json: { error: 'too many requests' } };
  await stranger.route('**/api/v1/**', (route) => route.fulfill(limited));
  await openAsking(stranger, '/sign-in');
  await stranger.getByRole('heading', { name: 'Too many requests' }).waitFor();
  await expect.poll(() => stranger.getByRole('main').innerText()).toMatch(/Trying again in \d+ s\./);
  await stranger.unrouteAll({ behavior: 'wait' });
  await stranger.getByRole('button', { name: 'Sign in' }).waitFor();
  // SETUP-5
  expect(await stranger.getByRole('button', { name: 'Use a directory account' }).count()).toBe(0);
});

// HTTP-25
test.each(['/sign-in', '/api/v1/docs/'])('a script injected into %s does not run', async (path) => {
  // The page takes long to draw all operations; some are enough for its scripts to run.
  await stranger.route('**/openapi.json', async (route) => {
    const response = await route.fetch();
    const { paths, ...rest } = await response.json();
    const some = Object.fromEntries(Object.entries(paths).slice(0, 1));
    await route.fulfill({ response, json: { ...rest, paths: some } });
  });
  await stranger.goto(path);
  await stranger.getByRole('heading').first().waitFor();
  // The page itself violates no policy.
  expect(studio.faults).toEqual([]);
  const ran = await stranger.evaluate(async () => {
    const element = document.createElement('script');
    element.textContent = 'window.ran = true';
    document.body.append(element);
    const handler = document.createElement('img');
    handler.setAttribute('onerror', 'window.ran = true');
    handler.src = 'data:text/plain,no';
    document.body.append(handler);
    await new Promise((resolve) => handler.addEventListener('error', resolve));
    return 'ran' in window;
  });
  expect(ran).toBe(false);
  // The script and the handler. What is reported later would be a fault of the next test.
  await expect.poll(() => studio.faults.length).toBe(2);
  studio.faults.splice(0);
});

// HTTP-25
test('other sites cannot frame our pages', async () => {
  const other = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    for (const path of ['/sign-in', '/api/v1/docs/'])
      response.write(`<iframe src="${studio.address}${path}"></iframe>`);
    response.end();
  });
  await stranger.goto(`http://127.0.0.1:${await listen(other)}/`);
  const error = 'chrome-error://chromewebdata/';
  const frames = () => stranger.frames().slice(1);
  await expect.poll(() => frames().map((frame) => frame.url())).toEqual([error, error]);
  other.close();
  await expect.poll(() => studio.faults.length).toBe(2);
  studio.faults.splice(0);
});
