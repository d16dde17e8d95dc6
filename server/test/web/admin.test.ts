import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { password } from '../support/library.ts';
import { totpCode } from '../support/people.ts';
import { call, callFrom } from './call.ts';
import { accountButton, isFocused, pathsAsked, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const admin = await studio.enter('mara');

// APP-10
test('an administrator creates an account, grants capabilities, impersonates it, reads the audit log and bans it', async () => {
  // `/admin` redirects to the first section; a refusal shows the service's text.
  await admin.goto('/admin');
  await admin.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  const create = admin.getByRole('button', { name: 'New account' });
  await create.click();
  const form = admin.getByRole('dialog');
  await form.getByLabel('Username').fill('mara');
  await form.getByLabel('First password').fill(password);
  await form.getByRole('button', { name: 'Create account' }).click();
  await form.getByRole('alert').filter({ hasText: 'That username is taken.' }).waitFor();
  await form.getByLabel('Username').fill('otto');
  await form.getByLabel('Full name').fill('Otto Brandt');
  await form.getByLabel('Role').selectOption('Viewer');
  await form.getByRole('button', { name: 'Create account' }).click();
  await admin.waitForURL(/\/admin\/users\/\d+$/);
  await admin.getByRole('heading', { name: 'Otto Brandt' }).waitFor();
  const account = new URL(admin.url()).pathname;

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
  await form.waitFor({ state: 'detached' });

  const otto = await studio.enter('otto');
  await otto.goto('/admin');
  await otto.getByRole('link', { name: /^(Otto Brandt|otto)$/ }).waitFor();
  const sections = otto.getByRole('navigation', { name: 'Administration' }).getByRole('link');
  await expect.poll(() => sections.allInnerTexts()).toEqual(['Users', 'Sign-ins']);
  expect(await otto.getByRole('button', { name: 'New account' }).count()).toBe(0);
  await visit(otto, '/admin/audit');
  await otto.getByRole('heading', { name: 'You do not have access to this page' }).waitFor();
  await visit(otto, '/new');
  await otto.getByText('You cannot post here').waitFor();

  // Removes the grant after a confirmation.
  await admin.getByRole('button', { name: 'Remove: See accounts' }).click();
  const confirmation = admin.getByRole('alertdialog');
  await confirmation.getByText('Remove the grant of “See accounts”?').waitFor();
  await confirmation.getByRole('button', { name: 'Remove' }).click();
  await admin.getByRole('button', { name: 'Remove: See accounts' }).waitFor({ state: 'detached' });

  // A filter by the name that is shown, and by event; the sentence names both.
  await visit(admin, '/admin/audit');
  await admin.getByLabel('Done to').fill('Otto Brandt');
  await admin.getByLabel('Event', { exact: true }).fill('capability.*');
  await admin.getByRole('button', { name: 'Filter' }).click();
  await admin.waitForURL(/subject=\d+/);
  const events = admin.getByRole('listitem').filter({ has: admin.locator('time') });
  await expect.poll(() => events.count()).toBe(2);
  const given = events.filter({ hasText: /mara gave Otto Brandt “See accounts”/ });
  await given.getByText('Details').click();
  await given.getByText('capability.grant.added').waitFor();
  await given.getByText('Helps out').waitFor();
  const [download] = await Promise.all([
    admin.waitForEvent('download'),
    admin.getByRole('link', { name: 'Export as CSV' }).click(),
  ]);
  const csv = await readFile(await download.path(), 'utf8');
  expect(csv).toMatch(/capability\.grant\.added,\d+,mara,\d+,otto/);
  expect(csv).not.toContain('setup.completed');

  // From the next request on, the administrator acts as the target, also in a window that is already open.
  const beside = await admin.context().newPage();
  await beside.goto('/collections');
  await beside.getByRole('heading', { name: 'Collections', level: 1 }).waitFor();
  await visit(admin, account);
  await admin.getByRole('button', { name: 'Act as this person' }).click();
  await form.getByLabel('Reason').fill('Cannot find his posts');
  await form.getByRole('button', { name: 'Act as Otto Brandt' }).click();
  await admin.waitForURL(`${studio.address}/`);
  const acting = { username: 'otto', impersonated_by: { username: 'mara' } };
  await expect.poll(() => call(admin, 'GET', '/auth/me')).toMatchObject(acting);
  await beside.getByText('You are acting as otto').waitFor();
  await beside.close();
  await call(admin, 'POST', '/auth/impersonation/end');

  // A reset password is shown once and works; the old session is gone.
  await admin.goto(account);
  await admin.getByRole('button', { name: 'Reset password' }).click();
  await confirmation.getByRole('button', { name: 'Reset password' }).click();
  const temporary = await admin.getByLabel('Temporary password').inputValue();
  expect(temporary.length).toBeGreaterThanOrEqual(12);
  await admin.getByRole('button', { name: 'Done' }).click();
  await admin.getByLabel('Temporary password').waitFor({ state: 'detached' });
  expect((await callFrom(otto, 'GET', '/auth/me')).status).toBe(401);
  await call(otto, 'POST', '/auth/login', { username: 'otto', password: temporary });
  // The administrator ends all sessions.
  await admin.reload();
  await admin.getByRole('button', { name: /^End session Chrome/ }).waitFor();
  await admin.getByRole('button', { name: 'End all', exact: true }).click();
  await confirmation.getByRole('button', { name: 'End all sessions' }).click();
  await admin.getByText('Not signed in anywhere.').waitFor();
  expect((await callFrom(otto, 'GET', '/auth/me')).status).toBe(401);

  await change.click();
  await confirmation.getByRole('radio', { name: /Disabled/ }).check();
  await confirmation.getByLabel('Reason').fill('Has left');
  await confirmation.getByRole('button', { name: 'Set status' }).click();
  await confirmation.waitFor({ state: 'hidden' });
  await admin.getByText('Disabled', { exact: true }).waitFor();
  await admin.getByText('Nobody can act as Otto Brandt: the account is disabled.').waitFor();

  // The last administrator cannot be demoted, and the page says why.
  await visit(admin, '/admin/users?q=mara');
  await admin.getByRole('link', { name: 'mara' }).click();
  await admin.getByLabel('This account is').selectOption('Viewer');
  await confirmation.getByRole('button', { name: 'Change role' }).click();
  await confirmation.getByText('without an administrator').waitFor();
  await confirmation.getByRole('button', { name: 'Cancel' }).click();
  const role = admin.getByLabel('This account is').locator('option:checked');
  await expect.poll(() => role.innerText()).toBe('Administrator');
});

test('an administrator removes a second factor, denies a capability and lifts the denial', async () => {
  const ines = await studio.join('ines', 'Ines');
  const { ref } = await call(ines, 'GET', '/auth/me');
  // She sets up a second factor, which is required from then on.
  const { secret_base32 } = await call(ines, 'POST', '/account/2fa/enroll');
  await call(ines, 'POST', '/account/2fa/confirm', { code: totpCode(secret_base32) });

  // A user who may only read accounts opens the account itself.
  const asked = pathsAsked(admin);
  await visit(admin, `/admin/users/${ref}`);
  await admin.getByText('On. Sign-in asks for a code.').waitFor();
  expect(asked).not.toContain('/api/v1/admin/users');
  const confirmation = admin.getByRole('alertdialog');
  await admin.getByRole('button', { name: 'Remove it' }).click();
  await confirmation.getByText('The password alone will be enough').waitFor();
  await confirmation.getByRole('button', { name: 'Remove it' }).click();
  await admin.getByText('Off.', { exact: true }).waitFor();
  // The confirmation has such a button too, and takes a moment to close.
  await expect.poll(() => admin.getByRole('button', { name: 'Remove it' }).count()).toBe(0);

  // A temporary denial overrides the role and is shown; lifting it restores the capability.
  const form = admin.getByRole('dialog');
  await admin.getByRole('button', { name: 'Revoke' }).click();
  await form.getByLabel('Capability').selectOption('posts.create');
  await form.getByLabel('How long it lasts').selectOption('date');
  await form.getByLabel('Last day').fill('2001-02-03');
  await form.getByLabel('Note').fill('Until we have talked');
  await form.getByRole('button', { name: 'Revoke' }).click();
  await form.getByLabel('How long it lasts').selectOption('30');
  await form.getByRole('button', { name: 'Revoke' }).click();
  await form.waitFor({ state: 'hidden' });
  await admin.getByText('“Until we have talked”').waitFor();
  // A date in the past is not sent.
  expect(asked.filter((path) => path.endsWith('/revokes'))).toHaveLength(1);
  const { revokes } = await call(admin, 'GET', `/admin/users/${ref}/capabilities`);
  expect(Math.round((Date.parse(revokes[0].expires_at) - Date.now()) / 86_400_000)).toBe(30);
  await admin.getByRole('button', { name: 'Lift: Create posts' }).click();
  await confirmation.getByRole('button', { name: 'Lift' }).click();
  await admin.getByText('“Until we have talked”').waitFor({ state: 'detached' });
  await confirmation.waitFor({ state: 'detached' });
  await expect.poll(async () => (await callFrom(ines, 'GET', '/auth/me')).text).toContain('posts.create');
  await accountButton(admin).click();
  await admin.getByRole('menuitem', { name: 'Administration' }).click();
  await admin.waitForURL(/\/admin\/users$/);
});
