import { expect, test } from 'vitest';
import { password } from '../support/library.ts';
import { setRole, totpCode } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { call, fileOf } from './call.ts';
import {
  accountButton,
  naturalWidth,
  offerPassword,
  overhang,
  phone,
  signIn,
  signInButton,
  signOut,
  visit,
} from './hands.ts';
import { openStudio } from './studio.ts';

let recoveryCodes: string[];

const studio = await openStudio();
const page = await studio.openPage();
await signIn(page, 'mara');

test('enrols a second factor and signs in with a recovery code', async () => {
  await visit(page, '/settings/security');
  await page.getByRole('button', { name: 'Set up two-factor sign-in' }).click();
  await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
  const shown = (await page.locator('[data-secret]').textContent()) ?? '';
  expect(shown).toMatch(/^[A-Z2-7]{4}( [A-Z2-7]{1,4})+$/);
  await page.getByLabel('2. Type the code the app shows').fill(totpCode(shown.replaceAll(' ', '')));
  await page.getByRole('button', { name: 'Turn on' }).click();
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  recoveryCodes = await codes.allTextContents();
  expect(recoveryCodes).toHaveLength(10);
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByText('Two-factor sign-in is on').waitFor();

  await signOut(page);
  await offerPassword(page, 'mara');
  const factor = page.getByLabel('Code from your app, or a recovery code');
  await factor.fill('WRONG-WRONG');
  await signInButton(page).click();
  await page.getByText('That code is wrong').waitFor();
  await factor.fill((recoveryCodes[0] ?? '').toLowerCase().replace('-', ''));
  await signInButton(page).click();
  await accountButton(page).waitFor();
  await visit(page, '/settings/security');
  await page.getByText('9 recovery codes are left').waitFor();

  await page.getByRole('button', { name: 'New recovery codes' }).click();
  await page.getByLabel('Your password').fill(password);
  await page.getByRole('button', { name: 'Create new codes' }).click();
  await codes.first().waitFor();
  const renewed = await codes.allTextContents();
  expect(renewed).toHaveLength(10);
  expect(renewed.filter((one) => recoveryCodes.includes(one))).toEqual([]);
  recoveryCodes = renewed;
});

// ROLE-25
test('leads to setting up the second factor that a role requires, and on to the wanted page', async () => {
  const { library } = studio;
  const finn = await studio.join('finn', 'Finn Holm', phone);
  const { ref } = await library.deps.db
    .selectFrom('users')
    .select('ref')
    .where('username', '=', 'finn')
    .executeTakeFirstOrThrow();
  await library.deps.db
    .updateTable('roles')
    .set({ requires_second_factor: true })
    .where('code', '=', 'viewer')
    .execute();
  await setRole(library, { ref }, 'viewer');
  await finn.goto('/collections');
  await finn.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  const onward = finn.getByRole('button', { name: 'Continue' });
  expect(await onward.isDisabled()).toBe(true);
  expect(await overhang(finn)).toBe(0);
  await finn.getByRole('button', { name: 'Set up two-factor sign-in' }).click();
  const secret = (await finn.locator('[data-secret]').textContent()) ?? '';
  await finn.getByLabel('2. Type the code the app shows').fill(totpCode(secret.replaceAll(' ', '')));
  await finn.getByRole('button', { name: 'Turn on' }).click();
  await finn.getByRole('button', { name: 'I have saved them' }).click();
  await onward.click();
  await finn.waitForURL(`${studio.address}/collections`);
});

test('shows an access token once; it works within its scope until it is revoked', async () => {
  await visit(page, '/settings/tokens');
  await page.getByLabel('Name', { exact: true }).fill('backup script');
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = (await page.getByLabel('The new token').textContent()) ?? '';
  expect(token).toMatch(/^vt_pat_[A-Za-z0-9]{32}$/);
  const headers = { authorization: `Bearer ${token}` };
  const me = await fetch(`${studio.address}/api/v1/auth/me`, { headers });
  expect(await me.json()).toMatchObject({ username: 'mara', auth_method: 'token' });

  await page.getByRole('button', { name: 'I have saved it' }).click();
  const rows = page.getByRole('list', { name: 'Access tokens' }).getByRole('listitem');
  const row = rows.filter({ hasText: 'backup script' });
  await row.waitFor();
  await expect.poll(() => row.textContent()).toMatch(/Read.*Expires/s);
  await expect.poll(() => page.getByText(token).count()).toBe(0);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No tokens yet.').waitFor();
  expect((await fetch(`${studio.address}/api/v1/auth/me`, { headers })).status).toBe(401);
});

test('lists other sessions by browser and ends one', async () => {
  const agent = 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0';
  const headers = { 'content-type': 'application/json', 'user-agent': agent };
  const body = JSON.stringify({ username: 'mara', password, totp_code: recoveryCodes[0] });
  const entered = await fetch(`${studio.address}/api/v1/auth/login`, { method: 'POST', headers, body });
  expect(entered.status, await entered.text()).toBe(200);

  await visit(page, '/settings/sessions');
  const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await rows.nth(1).waitFor();
  await expect.poll(() => rows.filter({ hasText: 'This one' }).count()).toBe(1);
  const other = rows.filter({ hasText: 'Firefox on Android' });
  await other.getByRole('button', { name: 'End' }).click();
  await page.getByText('You are signed in nowhere else.').waitFor();
});

// PREFERENCE-3
test('applies the chosen theme at once and opens the preferred feed', async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await visit(page, '/settings/preferences');
  const theme = page.getByLabel('Theme');
  await theme.waitFor();
  const light = await background();
  await theme.selectOption('dark');
  await expect.poll(background).not.toBe(light);
  const dark = await background();
  await page.getByLabel('Order').selectOption('oldest');
  // The page says “Saved” after each of the two changes.
  const kept = () => call(page, 'GET', '/account/preferences');
  const wanted = { theme: 'dark', default_views: { sort: 'oldest' } };
  await expect.poll(kept).toMatchObject(wanted);
  await page.getByText('Saved').waitFor();
  await page.reload();
  await theme.waitFor();
  await expect.poll(background).toBe(dark);
  await visit(page, '/');
  const turn = page.getByRole('link', { name: /reverse the order/ });
  await turn.waitFor();
  await expect.poll(() => turn.textContent()).toContain('Oldest');
  await signOut(page);
  await expect.poll(background).toBe(light);
  await call(page, 'POST', '/auth/login', { username: 'mara', password, totp_code: recoveryCodes[1] });
});

test('saves the name and picture of a profile', async () => {
  await page.goto('/settings/profile');
  await page.getByLabel('Display name').fill('Mara Lindqvist');
  await page.getByLabel('E-mail').fill('mara@example.org');
  await page.getByLabel('About you').fill('Photographs harbours.');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Saved').waitFor();
  await page.getByLabel('Choose a picture').setInputFiles(fileOf('mara.jpg', await jpeg(60, 60)));
  await page.getByRole('button', { name: 'Remove picture' }).waitFor();
  const inHeader = page.getByRole('button', { name: 'Account', exact: true }).locator('img');
  await expect.poll(() => naturalWidth(inHeader)).toBeGreaterThan(0);
  const shown = page.locator('main img').first();
  await expect.poll(() => naturalWidth(shown)).toBeGreaterThan(0);

  await page.getByRole('link', { name: 'your page' }).click();
  await page.getByRole('heading', { name: 'Mara Lindqvist' }).waitFor();
  await page.getByText('Photographs harbours.').waitFor();
  const saved = { email: 'mara@example.org', display_name: 'Mara Lindqvist' };
  expect(await call(page, 'GET', '/account/profile')).toMatchObject(saved);
});

test('shows impersonation on every page, stops it, and explains its expiry on the sign-in page', async () => {
  const { ref } = await call(page, 'POST', '/admin/users', { username: 'tomas', password });
  const strip = page.getByRole('region', { name: 'Acting as another user' });
  const actAs = async () => {
    await call(page, 'POST', `/admin/users/${ref}/impersonate`);
    await page.goto('/settings/security');
    await strip.getByText('You are acting as tomas').waitFor();
  };
  await actAs();
  await expect.poll(() => strip.textContent()).toContain('Signed in as administrator mara');
  await page.getByText('Only tomas can change').waitFor();
  await strip.getByRole('button', { name: 'Stop' }).click();
  await strip.waitFor({ state: 'detached' });
  const me = { username: 'mara', impersonated_by: null };
  await expect.poll(() => call(page, 'GET', '/auth/me')).toMatchObject(me);

  const mara = await page.context().storageState();
  await actAs();
  const elsewhere = await studio.openPage({ storageState: mara });
  await call(elsewhere, 'DELETE', `/admin/users/${ref}/sessions`);
  // The page learns of it by this press or, sooner, by its event stream; then the link disappears before the click.
  const link = page.getByRole('link', { name: 'Sessions' });
  const pressed = link.click({ timeout: 5_000 }).catch(() => undefined);
  await page.getByText('Your time acting as tomas has ended').waitFor();
  await pressed;
});
