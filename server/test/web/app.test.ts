import { appendFile, copyFile, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg, png } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { call, publish, upload, uploadReady } from './call.ts';
import {
  accountButton,
  naturalWidth,
  offerPassword,
  phone,
  showMore,
  signIn,
  signOut,
  visit,
} from './hands.ts';
import { openStudio } from './studio.ts';

const worker = 'service-worker.js';

/** Returns a directory with the built web app, whose service worker a test can replace. */
async function replaceableApp(): Promise<string> {
  const built = join(import.meta.dirname, '../../../web/build');
  const directory = await temporaryDirectory();
  const names = await readdir(built);
  const linked = names.filter((name) => !name.startsWith(worker));
  await Promise.all(linked.map((name) => symlink(join(built, name), join(directory, name))));
  await copyFile(join(built, worker), join(directory, worker));
  return directory;
}

const webDir = await replaceableApp();
const studio = await openStudio({}, { webDir });
const mara = await studio.enter('mara');
/** A phone with the service worker, which several people use one after another. */
const page = await studio.openPage({ ...phone, serviceWorkers: 'allow' });
const { id: picture } = await upload(mara, await png(90, 60));
const quay = await uploadReady(mara, await jpeg(120, 80, { seed: 5 }));
const saved = await publish(mara, 'Quay', [quay], { visibility: 'private' });
const pier = await publish(mara, 'Pier', [picture], { visibility: 'org-only' });

/** The names of the caches with what accounts have read, and of the entries of the storage. */
const storedIn = (page: Page) =>
  page.evaluate(async () => ({
    caches: (await caches.keys()).filter((name) => name.startsWith('vitrine-private-')),
    entries: Object.keys(localStorage),
  }));

/** Waits until the service worker has kept the shell and the feed. */
async function untilKept(page: Page): Promise<void> {
  const isKept = () =>
    page.evaluate(async () => {
      const wanted = ['/', '/api/v1/auth/me', '/api/v1/posts?limit=50&sort=newest&feed=latest'];
      const kept = await Promise.all(wanted.map((address) => caches.match(address, { ignoreVary: true })));
      return navigator.serviceWorker.controller !== null && kept.every((one) => one !== undefined);
    });
  await expect.poll(isKept).toBe(true);
}

/** Waits until the service worker has kept a saved post with its picture, and the scripts of its page. */
async function untilSaved(page: Page, post: string, file: string): Promise<void> {
  const wanted = [`/api/v1/posts/${post}`, `/api/v1/assets/${file}/variants/preview`];
  const isSaved = () =>
    page.evaluate(async (addresses) => {
      const found = await Promise.all(
        addresses.map((address) => caches.match(address, { ignoreVary: true })),
      );
      return found.every((one) => one !== undefined);
    }, wanted);
  await expect.poll(isSaved).toBe(true);
}

/** Pulls the page down with a finger. */
async function pull(page: Page): Promise<void> {
  const finger = await page.context().newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
    finger.send('Input.dispatchTouchEvent', { type, touchPoints });
  await send('touchStart', [{ x: 200, y: 300 }]);
  for (const y of [340, 400, 460, 520]) await send('touchMove', [{ x: 200, y }]);
  await send('touchEnd', []);
}

// APP-2, APP-3, APP-6, APP-8
test('pulling reads the feed, which is readable offline with saved posts until signing out', async () => {
  const shelf = (await call(mara, 'POST', '/collections', { name: 'Kept' })).id;
  await call(mara, 'PUT', `/collections/${shelf}/posts/${saved}`);
  await signIn(page, 'mara');
  await visit(page, '/');
  const card = page.getByRole('link', { name: /Pier/ });
  await card.waitFor();
  await untilKept(page);
  await untilSaved(page, saved, quay);
  await publish(mara, 'Gull', [picture], { visibility: 'org-only' });
  await pull(page);
  await page.getByRole('link', { name: /Gull/ }).waitFor();

  await page.context().setOffline(true);
  await page.reload();
  await card.waitFor();
  await page.getByText('The connection to the library is lost').first().waitFor();
  await page.goto(`/posts/${saved}`);
  await page.getByRole('heading', { name: 'Quay', level: 1 }).waitFor();
  await expect.poll(() => naturalWidth(page.locator('#main img').first())).toBeGreaterThan(0);
  await page.getByLabel('Write a comment').fill('Lovely');
  await page.reload();
  await expect.poll(() => page.getByLabel('Write a comment').inputValue()).toBe('Lovely');
  await page.goto('/');
  await card.waitFor();

  await page.context().setOffline(false);
  await page.reload();
  await card.waitFor();
  await signOut(page);
  await expect.poll(() => storedIn(page)).toEqual({ caches: [], entries: [] });

  await page.context().setOffline(true);
  await page.reload();
  await page
    .getByText(/cannot be reached|connection to the library is lost/)
    .first()
    .waitFor();
  expect(await card.count()).toBe(0);
});

// APP-3
test('an account finds nothing that another account stored before its session ended elsewhere', async () => {
  const anna = await studio.join('anna');
  await visit(anna, '/settings/notifications');
  await anna.evaluate(() => localStorage.setItem('a draft', 'of anna'));
  // Headless browsers refuse notifications.
  await anna.getByText('This browser blocks notifications of this site').waitFor();
  await visit(anna, `/posts/${pier}`);
  await anna.getByLabel('Write a comment').fill('Too late');
  await anna.request.post('/api/v1/auth/logout');
  await anna.getByRole('button', { name: 'Comment', exact: true }).click();
  await anna.waitForURL(`**/sign-in?next=${encodeURIComponent(`/posts/${pier}`)}`);
  await studio.library.join('ben');
  const password = 'correct horse battery';
  const answer = await anna.request.post('/api/v1/auth/login', { data: { username: 'ben', password } });
  expect(answer.status()).toBe(200);
  await anna.goto('/');
  await anna.getByRole('button', { name: 'Account' }).waitFor();
  await expect.poll(() => anna.evaluate(() => localStorage.getItem('a draft'))).toBeNull();
});

// APPEARANCE-10, USER-21, USER-22, POST-51
test('a profile shows its banner, links and pinned posts in the colour of the library', async () => {
  const banner = await uploadReady(mara, await jpeg(400, 100));
  const me = await call(mara, 'GET', '/auth/me');
  const links = [{ label: 'Shop', url: 'https://mara.example/shop' }];
  await call(mara, 'PATCH', `/users/${me.ref}`, { banner_asset_id: banner, links });
  await call(mara, 'PATCH', '/admin/system/appearance', { accent_light: '#7a1fa2' });
  await visit(mara, `/posts/${pier}`);
  await showMore(mara);
  await mara.getByRole('button', { name: 'Pin', exact: true }).click();
  await mara.getByRole('button', { name: 'Unpin' }).waitFor();
  await visit(mara, '/users/mara');
  await mara.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: /Pier/ }).waitFor();
  const link = mara.getByRole('link', { name: 'Shop' });
  expect(await link.getAttribute('href')).toBe('https://mara.example/shop');
  await expect.poll(() => link.evaluate((shown) => getComputedStyle(shown).color)).toBe('rgb(122, 31, 162)');
  await mara.locator(`img[src*="${banner}/variants/screen"]`).waitFor();
});

// APP-7
test('files that another app shares wait at the sign-in, and are part of a new post', async () => {
  await page.context().setOffline(false);
  await page.goto('/sign-in');
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  const shared = [...(await jpeg(60, 40, { seed: 9 }))];
  await page.evaluate((bytes) => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: '/share', enctype: 'multipart/form-data' });
    const input = document.createElement('input');
    Object.assign(input, { type: 'file', name: 'files' });
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], 'mole.jpg', { type: 'image/jpeg' }));
    input.files = transfer.files;
    form.append(input);
    document.body.append(form);
    form.submit();
  }, shared);
  await page.getByText('Your shared files are kept for an hour').waitFor();
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/new');
  await page.getByText('Saved as a draft.').waitFor();
  const drafts = async () => (await call(mara, 'GET', '/posts?draft=true')).items;
  await expect.poll(drafts).toHaveLength(1);
});

// APP-4
test('a new version of the app waits until the reader reloads', async () => {
  await visit(page, '/');
  await appendFile(join(webDir, worker), '\n// The next version.\n');
  const waits = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      if (registration.waiting === null) await registration.update();
      return registration.waiting !== null;
    });
  await expect.poll(waits).toBe(true);
  const notice = page.getByText('A new version is ready.');
  await notice.waitFor();
  const reloaded = page.waitForEvent('framenavigated');
  await page.getByRole('button', { name: 'Reload' }).click();
  await reloaded;
  await page.getByRole('link', { name: /Pier/ }).waitFor();
  await expect.poll(waits).toBe(false);
  expect(await notice.count()).toBe(0);
});

// APP-9
test('a file that was on its way when the app was closed is sent in the background by its own account only', async () => {
  await studio.library.joinAll('olga', 'pia');
  const context = page.context();
  await signOut(page);
  await offerPassword(page, 'olga');
  await accountButton(page).waitFor();
  const { ref } = await call(page, 'GET', '/auth/me');
  await visit(page, '/new');
  // The worker knows whose files they are.
  await expect.poll(async () => (await storedIn(page)).caches.length).toBe(1);
  await context.setOffline(true);
  const buffer = Buffer.from(await jpeg(60, 40, { seed: 12 }));
  const file = { name: 'ferry.jpg', mimeType: 'image/jpeg', buffer };
  await page.getByLabel('Choose files').setInputFiles(file);
  const isKept = () =>
    page.evaluate(
      async (wanted) => (await indexedDB.databases()).some(({ name }) => name === wanted),
      `vitrine-files-${ref}`,
    );
  await expect.poll(isKept).toBe(true);
  await page.goto('about:blank');
  await context.setOffline(false);

  const browser = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    browser.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
      if (first !== undefined) resolve(first.registrationId);
    });
  });
  await browser.send('ServiceWorker.enable');
  const registrationId = await registered;
  const origin = `${studio.address}/`;
  const wake = () =>
    browser.send('ServiceWorker.dispatchSyncEvent', {
      origin,
      registrationId,
      tag: 'uploads',
      lastChance: false,
    });
  const signInAs = async (username: string) => {
    const data = { username, password: 'correct horse battery' };
    expect((await page.request.post('/api/v1/auth/login', { data })).status()).toBe(200);
  };
  // A file that the next person sent would never be among those of the first.
  await signInAs('pia');
  await wake();
  await signInAs('olga');
  const arrived = async () => {
    await wake();
    return (await call(page, 'GET', `/assets?owner_ref=${ref}`)).items.length;
  };
  await expect.poll(arrived).toBe(1);
  await page.goto('/new');
  await page.getByText('Saved as a draft.').waitFor();
  const drafts = async () => (await call(page, 'GET', '/posts?draft=true')).items;
  await expect.poll(async () => (await drafts())[0]?.members.length).toBe(1);
  expect(await arrived()).toBe(1);
});
