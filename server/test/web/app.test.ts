import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { jpeg, png } from '../support/pictures.ts';
import { call, publish, upload, uploadReady } from './call.ts';
import { phone, showMore, signIn, signOut, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');
const { id: picture } = await upload(mara, await png(90, 60));
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
  await expect.poll(isKept, { timeout: 60_000 }).toBe(true);
}

// APP-2, APP-3
test('the last feed is readable without a connection, and nothing is left after signing out', async () => {
  const page = await studio.openPage({ ...phone, serviceWorkers: 'allow' });
  await signIn(page, 'mara');
  await visit(page, '/');
  const card = page.getByRole('link', { name: /Pier/ });
  await card.waitFor();
  await untilKept(page);

  await page.context().setOffline(true);
  await page.reload();
  await card.waitFor();
  await page.getByText('The connection to the library is lost').first().waitFor();

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
  await anna.request.post('/api/v1/auth/logout');
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
