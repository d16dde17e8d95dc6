import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountButton } from './hands.ts';
import { password, startStudio } from './studio.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;

beforeAll(async () => {
  studio = await startStudio({ VITRINE_HOST: '0.0.0.0' });
});

afterAll(() => studio.close());

test('a request to an unknown host name explains where to set up the library', async () => {
  const page = await studio.openPage();
  await page.goto(`http://rebound.example:${new URL(studio.address).port}/`);
  await page.getByRole('heading', { name: 'Not at this address' }).waitFor();
  await page.getByText('open the library by localhost or an IP address').waitFor();
});

test('set-up beyond loopback requires the code printed at the start', async () => {
  const code = /enter the code (\S+)$/m.exec(studio.output())?.[1] ?? '';
  expect(code).toMatch(/^\w{4}-\w{4}-\w{4}$/);
  const page = await studio.openPage();
  await page.goto('/');
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Repeat password').fill(password);
  await page.getByLabel('Set-up code').fill('0000-0000-0000');
  await page.getByRole('button', { name: 'Create library' }).click();
  await page.getByText('The set-up code is wrong').waitFor();
  await page.getByLabel('Set-up code').fill(code.toLowerCase());
  await page.getByRole('button', { name: 'Create library' }).click();
  await accountButton(page).waitFor();
  expect(studio.faults).toEqual([]);
});
