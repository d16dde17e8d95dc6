import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSetting } from '../../src/settings.ts';
import { openBrowser } from '../support/browser.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';

let library: Library;
let root: Account;
let browser: Browser;

async function open(path: string, width = 1440): Promise<Page> {
  const context = await browser.newContext({ baseURL: library.address, viewport: { width, height: 900 } });
  await context.addCookies([{ name: 'user', value: root.cookie() ?? '', url: library.address }]);
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

beforeAll(async () => {
  library = await openLibrary();
  await writeSetting(library.database.db, 'base_url', library.address);
  await library.setPublicMode(true);
  root = await library.join('root', 'admin');
  browser = await openBrowser();
});
afterAll(() => browser.close());

// AP-1, AP-2
test('an administrator switches it on, and people opt in and see their handle', async () => {
  const profile = await open('/settings/profile');
  await profile.getByText('Your username is root').waitFor();
  expect(await profile.getByText('Followers elsewhere').count()).toBe(0);

  const site = await open('/admin/site');
  await site.getByRole('switch', { name: 'Following from other systems' }).click();
  await site.getByText('0 people with 0 followers').waitFor();

  await profile.reload();
  await profile.getByRole('switch', { name: 'Let people follow me' }).click();
  const handle = profile.getByLabel('Your handle');
  await handle.waitFor();
  expect(await handle.inputValue()).toBe(`@root@${new URL(library.address).host}`);

  await profile.getByRole('switch', { name: 'Let people follow me' }).click();
  await profile.getByRole('button', { name: 'Stop being followed' }).click();
  await handle.waitFor({ state: 'detached' });
  expect(await root.ok('getFollowableAccount')).toMatchObject({ followable: false });
});
