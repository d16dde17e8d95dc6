import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

const password = 'a long password';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let page: Page;
let recoveryCodes: string[];
const faults: string[] = [];

/** A browser of its own, with its own cookies. */
async function openPage(userAgent?: string): Promise<Page> {
  const options = { viewport: { width: 1280, height: 900 } };
  const context = await browser.newContext(userAgent === undefined ? options : { ...options, userAgent });
  const opened = await context.newPage();
  opened.setDefaultTimeout(15_000);
  opened.on('pageerror', (error) => faults.push(error.message));
  return opened;
}

async function signOut(on: Page): Promise<void> {
  await on.getByRole('button', { name: 'Account', exact: true }).click();
  await on.getByRole('menuitem', { name: 'Sign out' }).click();
  await on.getByLabel('Password', { exact: true }).waitFor();
}

async function signIn(on: Page, code?: string): Promise<void> {
  await on.getByLabel('Username').fill('mara');
  await on.getByLabel('Password', { exact: true }).fill(password);
  await on.getByRole('button', { name: 'Sign in', exact: true }).click();
  if (code !== undefined) {
    await on.getByLabel('Code from your app, or a recovery code').fill(code);
    await on.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  await on.getByRole('button', { name: 'Account', exact: true }).waitFor();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-account-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory, {
    VITRINE_ADMIN_USERNAME: 'mara',
    VITRINE_ADMIN_PASSWORD: password,
  });
  browser = await openBrowser();
  page = await openPage();
  await page.goto(service.address);
  await signIn(page);
});

afterAll(async () => {
  await browser.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('two-factor sign-in: enrol with the secret on the page, then sign in with a code and a recovery code', async () => {
  await page.goto(`${service.address}/settings/security`);
  await page.getByRole('button', { name: 'Set up two-factor sign-in' }).click();
  await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
  const shown = (await page.locator('[data-secret]').textContent()) ?? '';
  expect(shown).toMatch(/^[A-Z2-7]{4}( [A-Z2-7]{1,4})+$/);
  const app = new TOTP({ secret: Secret.fromBase32(shown.replaceAll(' ', '')) });
  const code = page.getByLabel('2. Type the code the app shows');
  const now = app.generate();
  await code.fill(now === '000000' ? '000001' : '000000');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('That code is not right').waitFor();
  await code.fill(app.generate());
  await page.getByRole('button', { name: 'Turn on' }).click();
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  recoveryCodes = await codes.allTextContents();
  expect(recoveryCodes).toHaveLength(10);
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByText('Two-factor sign-in is on').waitFor();

  await signOut(page);
  // The code of the next half minute: one step of drift is allowed, and no code counts twice.
  await signIn(page, app.generate({ timestamp: Date.now() + 30_000 }));
  await signOut(page);
  await page.getByLabel('Username').fill('mara');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const factor = page.getByLabel('Code from your app, or a recovery code');
  await factor.fill('WRONG-WRONG');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('That code is not right').waitFor();
  await factor.fill((recoveryCodes[0] ?? '').toLowerCase().replace('-', ''));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Account', exact: true }).waitFor();
  await page.goto(`${service.address}/settings/security`);
  await page.getByText('9 recovery codes are left').waitFor();

  await page.getByRole('button', { name: 'New recovery codes' }).click();
  await page.getByLabel('Your password').fill('not the password');
  await page.getByRole('button', { name: 'Make new codes' }).click();
  await page.getByText('Wrong password.').waitFor();
  await page.getByLabel('Your password').fill(password);
  await page.getByRole('button', { name: 'Make new codes' }).click();
  await codes.first().waitFor();
  const renewed = await codes.allTextContents();
  expect(renewed).toHaveLength(10);
  expect(renewed.filter((one) => recoveryCodes.includes(one))).toEqual([]);
  recoveryCodes = renewed;
}, 120_000);

test('an access token: shown once, works within its scope, and no more once it is taken back', async () => {
  await page.goto(`${service.address}/settings/tokens`);
  await page.getByLabel('Name', { exact: true }).fill('backup script');
  await page.getByRole('button', { name: 'Make token' }).click();
  const token = (await page.getByLabel('The new token').textContent()) ?? '';
  expect(token).toMatch(/^vt_pat_[A-Za-z0-9]{32}$/);
  const headers = { authorization: `Bearer ${token}` };
  const me = await fetch(`${service.address}/api/v1/auth/me`, { headers });
  expect(await me.json()).toMatchObject({ username: 'mara', auth_method: 'token' });
  const write = await fetch(`${service.address}/api/v1/users/1/follow`, { method: 'POST', headers });
  expect(write.status).toBe(403);

  await page.getByRole('button', { name: 'I have kept it' }).click();
  const row = page
    .getByRole('list', { name: 'Access tokens' })
    .getByRole('listitem')
    .filter({ hasText: 'backup script' });
  await row.waitFor();
  expect(await row.textContent()).toMatch(/Read.*Lasts until/s);
  expect(await page.getByText(token).count()).toBe(0);
  await row.getByRole('button', { name: 'Take back' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Take back' }).click();
  await page.getByText('You have none.').waitFor();
  expect((await fetch(`${service.address}/api/v1/auth/me`, { headers })).status).toBe(401);
}, 60_000);

test('sessions: another browser is listed in words, and its next step leads to sign-in once it is ended', async () => {
  const phone = await openPage('Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0');
  await phone.goto(service.address);
  await signIn(phone, recoveryCodes[0]);

  await page.goto(`${service.address}/settings/sessions`);
  const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await rows.nth(1).waitFor();
  expect(await rows.filter({ hasText: 'This one' }).count()).toBe(1);
  const other = rows.filter({ hasText: 'Firefox on Android' });
  await other.getByRole('button', { name: 'End' }).click();
  await page.getByText('You are signed in nowhere else.').waitFor();
  await phone.getByRole('button', { name: 'Account', exact: true }).click();
  // Opening the menu asks the service already.
  await phone.getByLabel('Password', { exact: true }).waitFor();
  await phone.context().close();
}, 60_000);

test('preferences: a theme shows at once and stays, and the feed opens as preferred', async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.goto(`${service.address}/settings/preferences`);
  const theme = page.getByLabel('Theme');
  await theme.waitFor();
  const light = await background();
  await theme.selectOption('dark');
  await expect.poll(background).not.toBe(light);
  const dark = await background();
  await page.getByLabel('Order').selectOption('oldest');
  await page.getByText('Kept').waitFor();
  await page.reload();
  await theme.waitFor();
  await expect.poll(background).toBe(dark);
  expect(await theme.inputValue()).toBe('dark');

  await page.goto(service.address);
  const turn = page.getByRole('link', { name: /turn the order around/ });
  await turn.waitFor();
  expect(await turn.textContent()).toContain('Oldest');
  await turn.click();
  await page.waitForURL(/sort=newest/);
  await signOut(page);
  await expect.poll(background).toBe(light);
  await signIn(page, recoveryCodes[1]);
}, 60_000);

test('profile: name and picture are kept and shown on one’s page', async () => {
  await page.goto(`${service.address}/settings/profile`);
  await page.getByLabel('Display name').fill('Mara Lindqvist');
  await page.getByLabel('E-mail').fill('mara@example.org');
  await page.getByLabel('About you').fill('Photographs harbours.');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Saved').waitFor();
  const picture = join(directory, 'mara.jpg');
  await writeFile(picture, await jpeg(600, 600, { seed: 4 }));
  await page.getByLabel('Choose a picture').setInputFiles(picture);
  await page.getByRole('button', { name: 'Remove picture' }).waitFor();
  const width = (image: HTMLImageElement) => image.naturalWidth;
  await expect
    .poll(
      async () => {
        const image = page.locator('main img').first();
        return (await image.count()) === 0 ? 0 : image.evaluate(width);
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(0);

  await page.getByRole('link', { name: 'your page' }).click();
  await page.getByRole('heading', { name: 'Mara Lindqvist' }).waitFor();
  await page.getByText('Photographs harbours.').waitFor();
  await page.goto(`${service.address}/settings/profile`);
  await page.getByLabel('E-mail').fill('');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Saved').waitFor();
  const profile = await callFrom(page, 'GET', '/account/profile');
  expect(JSON.parse(profile.text)).toMatchObject({ email: null, display_name: 'Mara Lindqvist' });
}, 90_000);

test('impersonation: a strip on every page, stopped by its button; when it runs out the sign-in page says so', async () => {
  const made = await callFrom(page, 'POST', '/admin/users', {
    username: 'tomas',
    password: 'another password',
  });
  expect(made.status).toBe(201);
  const { ref } = JSON.parse(made.text);
  const strip = page.getByRole('region', { name: 'Acting as somebody else' });
  const actAs = async () => {
    expect((await callFrom(page, 'POST', `/admin/users/${ref}/impersonate`)).status).toBe(200);
    await page.goto(`${service.address}/settings/security`);
    await strip.getByText('You are acting as tomas').waitFor();
  };

  await actAs();
  expect(await strip.textContent()).toContain('Signed in as administrator mara');
  await page.getByText('Only tomas may change').waitFor();
  await strip.getByRole('button', { name: 'Stop' }).click();
  await strip.waitFor({ state: 'detached' });
  expect(JSON.parse((await callFrom(page, 'GET', '/auth/me')).text)).toMatchObject({
    username: 'mara',
    impersonated_by: null,
  });

  await page.goto(`${service.address}/users/tomas`);
  await page.getByRole('button', { name: 'Follow', exact: true }).click();
  await page.getByText('1 follower', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Unfollow' }).click();
  await page.getByText('0 followers').waitFor();

  const elsewhere = await openPage();
  await elsewhere.goto(service.address);
  await signIn(elsewhere, recoveryCodes[2]);
  await actAs();
  expect((await callFrom(elsewhere, 'DELETE', `/admin/users/${ref}/sessions`)).status).toBe(204);
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByText('The time you could act as tomas has run out').waitFor();
  await elsewhere.context().close();
  expect(faults).toEqual([]);
}, 90_000);
