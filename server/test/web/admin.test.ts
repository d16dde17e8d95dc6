import { readFile } from 'node:fs/promises';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callFrom } from './call.ts';
import { isFocused, offerPassword, signIn, signInButton } from './hands.ts';
import { openStudio, type Studio } from './studio.ts';

let studio: Studio;

/** Returns the account of the page's session. */
async function whoAmI(page: Page) {
  const { text } = await callFrom(page, 'GET', '/auth/me');
  const user: { username: string; capabilities?: string[]; impersonated_by: { username: string } | null } =
    JSON.parse(text);
  return user;
}

beforeAll(async () => {
  studio = await openStudio();
});

afterAll(() => studio.close());

test('an administrator creates an account, grants capabilities, impersonates it, reads the audit log and bans it', async () => {
  const admin = await studio.enter('mara');

  // `/admin` redirects to the first section; a refusal shows the service's text.
  await admin.goto('/admin');
  await admin.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  const create = admin.getByRole('button', { name: 'New account' });
  await create.click();
  const form = admin.getByRole('dialog');
  await form.getByLabel('Username').fill('mara');
  await form.getByLabel('First password').fill('another password');
  await form.getByRole('button', { name: 'Create account' }).click();
  await form.getByRole('alert').filter({ hasText: 'That username is taken.' }).waitFor();
  await form.getByLabel('Username').fill('otto');
  await form.getByLabel('Full name').fill('Otto Brandt');
  await form.getByLabel('Role').selectOption('Viewer');
  await form.getByRole('button', { name: 'Create account' }).click();
  await admin.waitForURL(/\/admin\/users\/\d+$/);
  await admin.getByRole('heading', { name: 'Otto Brandt' }).waitFor();
  const accountAddress = admin.url();

  // The dialog returns the focus to the button that opened it.
  const change = admin.getByRole('button', { name: 'Change status' });
  await change.click();
  await admin.getByRole('alertdialog').waitFor();
  await admin.keyboard.press('Escape');
  await expect.poll(() => isFocused(change)).toBe(true);

  // A grant appears at once, and gives the account access to the pages.
  await admin.getByRole('button', { name: 'Grant', exact: true }).click();
  await form.getByLabel('Capability').selectOption('users.read');
  await form.getByLabel('Note').fill('Helps out');
  await form.getByRole('button', { name: 'Grant' }).click();
  await admin.getByText('“Helps out”').waitFor();
  await form.waitFor({ state: 'hidden' });
  await admin.getByRole('button', { name: 'Grant', exact: true }).click();
  await form.getByLabel('Capability').selectOption('roles.read');
  await form.getByRole('button', { name: 'Grant' }).click();
  await admin.getByRole('button', { name: 'Remove: See roles' }).waitFor();

  const otto = await studio.openPage();
  await signIn(otto, 'otto', 'another password');
  await otto.goto('/admin');
  await otto
    .getByRole('link', { name: 'Otto Brandt' })
    .or(otto.getByRole('link', { name: 'otto' }))
    .waitFor();
  const sections = otto.getByRole('navigation', { name: 'Administration' }).getByRole('link');
  await expect.poll(() => sections.allInnerTexts()).toEqual(['Users', 'Roles']);
  await expect.poll(() => otto.getByRole('button', { name: 'New account' }).count()).toBe(0);
  await otto.goto('/admin/audit');
  await otto.getByText('You do not have access to this page').waitFor();

  // Removes the grant after a confirmation.
  await admin.getByRole('button', { name: 'Remove: See roles' }).click();
  const confirmation = admin.getByRole('alertdialog');
  await confirmation.getByText('Remove the grant of “See roles”?').waitFor();
  await confirmation.getByRole('button', { name: 'Remove' }).click();
  await admin.getByRole('button', { name: 'Remove: See roles' }).waitFor({ state: 'detached' });
  await otto.goto('/admin/roles');
  await otto.getByText('You do not have access to this page').waitFor();
  await expect.poll(() => sections.allInnerTexts()).toEqual(['Users']);

  // A filter by name and event; the sentence names both.
  await admin.goto('/admin/audit');
  await admin.getByLabel('Done to').fill('nobody here');
  await admin.getByRole('button', { name: 'Filter' }).click();
  await admin.getByText('There is no account named “nobody here”.').waitFor();
  await admin.getByLabel('Done to').fill('otto');
  await admin.getByLabel('Event', { exact: true }).fill('capability.*');
  await admin.getByRole('button', { name: 'Filter' }).click();
  await admin.waitForURL(/subject=\d+/);
  const events = admin.getByRole('listitem').filter({ has: admin.locator('time') });
  await expect.poll(() => events.count()).toBe(3);
  const given = events.filter({ hasText: /mara gave Otto Brandt “See accounts”/ });
  await given.getByText('capability.grant.added').click();
  await given.getByText('Helps out').waitFor();
  const [download] = await Promise.all([
    admin.waitForEvent('download'),
    admin.getByRole('link', { name: 'Export as CSV' }).click(),
  ]);
  const csv = await readFile(await download.path(), 'utf8');
  expect(csv).toMatch(/capability\.grant\.added,\d+,mara,\d+,otto/);
  expect(csv).not.toContain('setup.completed');

  // From the next request on, the administrator acts as the target.
  await admin.goto(accountAddress);
  await admin.getByRole('button', { name: 'Act as this person' }).click();
  await form.getByLabel('Reason').fill('Cannot find his posts');
  await form.getByRole('button', { name: 'Act as Otto Brandt' }).click();
  await admin.waitForURL(`${studio.address}/`);
  await expect
    .poll(() => whoAmI(admin))
    .toMatchObject({ username: 'otto', impersonated_by: { username: 'mara' } });
  await callFrom(admin, 'POST', '/auth/impersonation/end');
  await admin.goto('/admin/audit?event=admin.impersonation.started');
  await events.filter({ hasText: /mara started acting as Otto Brandt/ }).waitFor();

  // A reset password is shown once and works; the old session is gone.
  await admin.goto(accountAddress);
  await admin.getByRole('button', { name: 'Reset password' }).click();
  await confirmation.getByRole('button', { name: 'Reset password' }).click();
  const temporary = await admin.getByLabel('Temporary password').inputValue();
  expect(temporary.length).toBeGreaterThanOrEqual(12);
  await admin.getByRole('button', { name: 'Done' }).click();
  await admin.getByLabel('Temporary password').waitFor({ state: 'detached' });
  await otto.goto('/');
  await otto.waitForURL(/\/sign-in/);
  await signIn(otto, 'otto', temporary);
  // The administrator ends one session.
  await admin.reload();
  await admin.getByRole('button', { name: /^End the session Chrome/ }).click();
  await confirmation.getByRole('button', { name: 'End session' }).click();
  await admin.getByText('Not signed in anywhere.').waitFor();
  await otto.goto('/');
  await otto.waitForURL(/\/sign-in/);
  await signIn(otto, 'otto', temporary);
  await otto.goto('/admin/users');
  await otto.getByRole('heading', { name: 'Users', level: 1 }).waitFor();

  // A disabled account is sent to the sign-in page with its next request.
  await change.click();
  await confirmation.getByRole('radio', { name: /Disabled/ }).check();
  await confirmation.getByLabel('Reason').fill('Has left');
  await confirmation.getByRole('button', { name: 'Set status' }).click();
  await confirmation.waitFor({ state: 'hidden' });
  await admin.getByText('Disabled', { exact: true }).waitFor();
  await otto.getByLabel('Search accounts').fill('mara');
  await otto.waitForURL(/\/sign-in/);
  await signInButton(otto).waitFor();

  // The last administrator cannot be demoted, and the page says why.
  await admin.goto('/admin/users?q=mara');
  await admin.getByRole('link', { name: 'mara' }).click();
  await admin.getByLabel('This account is').selectOption('Viewer');
  await confirmation.getByRole('button', { name: 'Change role' }).click();
  await confirmation.getByText('without an administrator').waitFor();
  await confirmation.getByRole('button', { name: 'Cancel' }).click();
  await expect
    .poll(() =>
      admin
        .getByLabel('This account is')
        .evaluate((field: HTMLSelectElement) => field.selectedOptions[0]?.label),
    )
    .toBe('Administrator');
  expect(studio.faults).toEqual([]);
});

test('an administrator removes a second factor, denies a capability, lifts the denial and ends every session', async () => {
  const admin = await studio.openPage();
  await signIn(admin, 'mara');
  const made = await callFrom(admin, 'POST', '/admin/users', {
    username: 'ines',
    password: 'her own password',
    role: 'member',
  });
  expect(made.status).toBe(201);
  const { ref }: { ref: number } = JSON.parse(made.text);

  // She sets up a second factor, which is required from then on.
  const ines = await studio.openPage();
  await signIn(ines, 'ines', 'her own password');
  const enrolled = await callFrom(ines, 'POST', '/account/2fa/enroll');
  const { secret_base32 }: { secret_base32: string } = JSON.parse(enrolled.text);
  const code = new TOTP({ secret: Secret.fromBase32(secret_base32) }).generate();
  expect((await callFrom(ines, 'POST', '/account/2fa/confirm', { code })).status).toBe(200);
  const laptop = await studio.openPage();
  await laptop.goto('/sign-in');
  await offerPassword(laptop, 'ines', 'her own password');
  await laptop.getByLabel('Code from your app, or a recovery code').waitFor();

  // A user who may only read accounts opens the account itself.
  const lists: string[] = [];
  admin.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === '/api/v1/admin/users') lists.push(request.url());
  });
  await admin.goto(`/admin/users/${ref}`);
  await admin.getByText('On. Sign-in asks for a code.').waitFor();
  expect(lists).toEqual([]);

  // Cancelled, it stays; confirmed, The password alone will be enough.
  const confirmation = admin.getByRole('alertdialog');
  await admin.getByRole('button', { name: 'Remove it' }).click();
  await confirmation.getByText('The password alone will be enough').waitFor();
  await confirmation.getByRole('button', { name: 'Cancel' }).click();
  await confirmation.waitFor({ state: 'hidden' });
  await admin.getByText('On. Sign-in asks for a code.').waitFor();
  await admin.getByRole('button', { name: 'Remove it' }).click();
  await confirmation.getByRole('button', { name: 'Remove it' }).click();
  await admin.getByText('Off.', { exact: true }).waitFor();
  await expect.poll(() => admin.getByRole('button', { name: 'Remove it' }).count()).toBe(0);
  await signIn(laptop, 'ines', 'her own password');

  // A temporary denial overrides the role and is shown; lifting it restores the capability.
  const form = admin.getByRole('dialog');
  await expect.poll(async () => (await whoAmI(ines)).capabilities).toContain('posts.create');
  await admin.getByRole('button', { name: 'Revoke' }).click();
  await form.getByLabel('Capability').selectOption('posts.create');
  await form.getByLabel('How long it lasts').selectOption('date');
  await form.getByLabel('Last day').fill('2001-02-03');
  await form.getByLabel('Note').fill('Until we have talked');
  const sent: string[] = [];
  admin.on('request', (request) => {
    if (request.url().endsWith('/revokes')) sent.push(request.url());
  });
  await form.getByRole('button', { name: 'Revoke' }).click();
  await form.getByLabel('How long it lasts').selectOption('30');
  await form.getByRole('button', { name: 'Revoke' }).click();
  await form.waitFor({ state: 'hidden' });
  await admin.getByText('“Until we have talked”').waitFor();
  // A date in the past is not sent.
  expect(sent).toHaveLength(1);
  const revokes: { expires_at: string }[] = JSON.parse(
    (await callFrom(admin, 'GET', `/admin/users/${ref}/capabilities`)).text,
  ).revokes;
  const days = (Date.parse(revokes[0]?.expires_at ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  await expect.poll(async () => (await whoAmI(ines)).capabilities).not.toContain('posts.create');
  await ines.goto('/new');
  await ines.getByText('You cannot post here').waitFor();
  await admin.getByRole('button', { name: 'Lift: Create posts' }).click();
  await confirmation.getByText('Lift the revoke of “Create posts”?').waitFor();
  await confirmation.getByRole('button', { name: 'Lift' }).click();
  await admin.getByText('“Until we have talked”').waitFor({ state: 'detached' });
  await ines.goto('/new');
  await ines.getByLabel('Choose files').waitFor();

  // Ends all sessions, in both browsers.
  await admin.reload();
  const rows = admin.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await rows.nth(1).waitFor();
  await admin.getByRole('button', { name: 'End all', exact: true }).click();
  await confirmation.getByRole('button', { name: 'End all sessions' }).click();
  await admin.getByText('Not signed in anywhere.').waitFor();
  await expect.poll(async () => (await whoAmI(admin)).username).toBe('mara');
  for (const page of [ines, laptop]) {
    await page.goto('/settings/profile');
    await page.waitForURL(/\/sign-in/);
  }

  // The menu links to the administration only for users who may open a section.
  await signIn(ines, 'ines', 'her own password');
  await ines.getByRole('button', { name: 'Account', exact: true }).click();
  await ines.getByRole('menuitem', { name: 'Settings' }).waitFor();
  await expect.poll(() => ines.getByRole('menuitem', { name: 'Administration' }).count()).toBe(0);
  await admin.getByRole('button', { name: 'Account', exact: true }).click();
  await admin.getByRole('menuitem', { name: 'Administration' }).click();
  await admin.waitForURL(/\/admin\/users$/);
  expect(studio.faults).toEqual([]);
});
