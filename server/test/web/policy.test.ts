import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, settled, upload } from './call.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;
let mara: Page;
let asset: string;
let post: string;

beforeAll(async () => {
  studio = await openStudio();
  mara = await studio.enter('mara');
  asset = (await upload(mara, await jpeg(900, 600))).id;
  await settled(mara, asset);
  const body = { members: [{ asset_id: asset }], title: 'Harbour', visibility: 'org-only' };
  post = (await call(mara, 'POST', '/posts', body)).id;
});

afterAll(() => studio.close());

/** Opens a page and waits for its heading. The studio's faults include what the browser blocks meanwhile. */
async function look(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading').first().waitFor();
}

// HTTP-25
test('no page violates its Content-Security-Policy', async () => {
  const stranger = await studio.openPage();
  await look(stranger, '/sign-in');
  await look(stranger, '/api/v1/docs');
  await stranger.getByRole('heading', { name: 'Vitrine' }).waitFor();
  for (const path of [
    '/',
    `/posts/${post}`,
    `/assets/${asset}`,
    '/settings/profile',
    '/admin/appearance',
    '/a/page/that/is/not/there',
  ])
    await look(mara, path);
  expect(studio.faults).toEqual([]);
});

test('previews a chosen picture before it is uploaded', async () => {
  await look(mara, '/new');
  const picture = { name: 'p.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(90, 60)) };
  await mara.route('**/api/v1/assets', () => undefined);
  await mara.locator('input[type=file]').first().setInputFiles(picture);
  const shown = mara.locator('img[src^="blob:"]');
  await shown.waitFor();
  await expect
    .poll(() => shown.evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth))
    .toBe(90);
  expect(studio.faults).toEqual([]);
});

test.each(['/sign-in', '/api/v1/docs/'])('a script injected into %s does not run', async (path) => {
  const page = await studio.openPage();
  await look(page, path);
  const ran = await page.evaluate(async () => {
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
  expect(studio.faults.splice(0).length).toBeGreaterThan(0);
});

// HTTP-25
test('other sites cannot frame our pages', async () => {
  const other = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      ['/sign-in', '/api/v1/docs/']
        .map((path) => `<iframe src="${studio.address}${path}"></iframe>`)
        .join(''),
    );
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const page = await studio.openPage();
  await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'networkidle' });
  const shown = page
    .frames()
    .slice(1)
    .map((frame) => frame.url());
  other.close();
  expect(shown).toEqual(['chrome-error://chromewebdata/', 'chrome-error://chromewebdata/']);
  expect(studio.faults.splice(0).length).toBeGreaterThan(0);
});
