import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { password } from '../support/library.ts';
import { accountButton, overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const wide = { viewport: { width: 1440, height: 900 } };
const admin = await studio.enter('mara', wide);

/** Creates an invitation on the page of administrators and returns its address. */
async function invite(fill: (form: ReturnType<Page['getByRole']>) => Promise<void> = async () => {}) {
  await admin.getByRole('button', { name: 'New invitation' }).click();
  const form = admin.getByRole('dialog');
  await fill(form);
  await form.getByRole('button', { name: 'Create invitation' }).click();
  const address = await admin.getByLabel('Address', { exact: true }).inputValue();
  await admin.getByRole('button', { name: 'Done' }).click();
  return address;
}

test('an administrator invites people, who create their accounts on a phone', async () => {
  await visit(admin, '/admin/invitations');
  await admin.getByText('Nobody has been invited yet.').waitFor();
  const address = await invite(async (form) => {
    await form.getByLabel('E-mail').fill('nina@studio.example');
    await form.getByLabel('Role').selectOption('Viewer');
    await form.getByLabel('Open for').selectOption('30 days');
  });
  const row = admin.getByRole('list', { name: 'Invitations' }).getByRole('listitem');
  await row.filter({ hasText: 'nina@studio.example' }).getByText('Valid', { exact: true }).waitFor();

  const guest = await studio.openPage(phone);
  await guest.goto(address);
  await guest.getByRole('heading', { name: 'Join Studio North' }).waitFor();
  await guest.getByText('mara invites you to be a viewer here.').waitFor();
  expect(await overhang(guest)).toBe(0);
  await guest.getByLabel('Username').fill('mara');
  await guest.getByLabel('Full name').fill('Nina Holm');
  await guest.getByLabel('Password', { exact: true }).fill(password);
  await guest.getByLabel('Repeat password').fill(`${password}!`);
  const create = guest.getByRole('button', { name: 'Create account' });
  await create.click();
  await guest.getByText('The passwords do not match.').waitFor();
  await guest.getByLabel('Repeat password').fill(password);
  await create.click();
  await guest.getByText('That username is taken.').waitFor();
  await guest.getByLabel('Username').fill('nina');
  await create.click();
  await accountButton(guest).waitFor();

  await admin.reload();
  await row.getByText('Accepted', { exact: true }).waitFor();
  // A signed-in visitor reads why the address does not work for them.
  const other = await invite();
  await guest.goto(other);
  await guest.getByText('You are signed in as nina.').waitFor();
  await guest.getByRole('button', { name: 'Sign out' }).click();
  await guest.getByLabel('Username').waitFor();
  await guest.goto(address);
  await guest.getByRole('heading', { name: 'This invitation is no longer valid' }).waitFor();
});

test('an administrator gives an invitation another address, and revokes it', async () => {
  await visit(admin, '/admin/invitations');
  const row = admin.getByRole('listitem').filter({ hasText: 'Anyone with the link, 5 times' });
  const first = await invite(async (form) => form.getByLabel('How many people').fill('5'));
  await row.getByText('0 of 5 accounts created').waitFor();
  await row.getByRole('button', { name: 'New address' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Make new address' }).click();
  const second = await admin.getByLabel('Address', { exact: true }).inputValue();
  expect(second).not.toBe(first);
  const guest = await studio.openPage();
  await guest.goto(second);
  await guest.getByRole('heading', { name: 'Join Studio North' }).waitFor();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Revoke invitation' }).click();
  await row.getByText('Revoked', { exact: true }).waitFor();
  await guest.reload();
  await guest.getByRole('heading', { name: 'This invitation is no longer valid' }).waitFor();
});
