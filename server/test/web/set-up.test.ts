import { afterAll, expect, test } from 'vitest';
import { password } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { fileOf } from './call.ts';
import { accountButton, naturalWidth, offerPassword, signInButton, signOut, visit } from './hands.ts';
import { startStudio } from './studio.ts';

const studio = await startStudio({ VITRINE_HOST: '0.0.0.0' });

afterAll(() => studio.close());

test('sets up with the printed code, publishes three files, finds the post in the feed, and shows nothing after sign-out', async () => {
  const code = /enter the code (\S+)$/m.exec(studio.output())?.[1] ?? '';
  expect(code).toMatch(/^\w{4}-\w{4}-\w{4}$/);
  const page = await studio.openPage();
  await page.goto(`http://rebound.example:${new URL(studio.address).port}/`);
  await page.getByRole('heading', { name: 'Not at this address' }).waitFor();
  await page.getByText('open the library by localhost or an IP address').waitFor();

  await page.goto('/');
  await page.getByLabel('Library name').fill('Studio North');
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Repeat password').fill(password);
  await page.getByLabel('Set-up code').fill('0000-0000-0000');
  await page.getByRole('button', { name: 'Create library' }).click();
  await page.getByText('The set-up code is wrong').waitFor();
  await page.getByLabel('Set-up code').fill(code.toLowerCase());
  await page.getByRole('button', { name: 'Create library' }).click();
  await accountButton(page).waitFor();

  await page.getByRole('link', { name: 'New post' }).first().click();
  const pictures = await Promise.all([600, 300, 400].map((width, seed) => jpeg(width, 400, { seed })));
  const files = pictures.map((bytes, at) => fileOf(`${at}.jpg`, bytes));
  await page.getByLabel('Choose files').setInputFiles(files);
  await page.getByLabel('Title', { exact: true }).fill('Three mornings');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('heading', { name: 'Three mornings' }).waitFor();
  await page.waitForURL(/\/posts\/[0-9a-f-]{36}/);
  const postAddress = page.url();

  await visit(page, '/');
  const card = page.getByRole('link', { name: /Three mornings/ }).first();
  const picture = page.getByRole('list', { name: 'Posts' }).locator('img').first();
  await expect.poll(() => naturalWidth(picture)).toBeGreaterThan(0);
  await card.click();
  await page.waitForURL(/\/posts\//);

  await signOut(page);
  await expect.poll(() => page.getByText('Three mornings').count()).toBe(0);
  await page.goto(postAddress);
  await signInButton(page).waitFor();
  expect(await page.getByText('Three mornings').count()).toBe(0);
  expect(await page.locator('main img').count()).toBe(0);
  await offerPassword(page, 'mara', 'wrong');
  await page.getByText('wrong username or password').waitFor();
});
