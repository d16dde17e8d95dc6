import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { client, openProvider } from '../support/openid.ts';
import { call, fileOf } from './call.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const provider = await openProvider(studio.library, 'studio');
afterAll(provider.close);
const admin = await studio.enter('mara');

test('an administrator changes several accounts after seeing what would change', async () => {
  await studio.library.joinAll('anna', 'ben', 'cleo');
  await admin.goto('/admin/users');
  await admin.getByRole('link', { name: 'anna' }).waitFor();
  await admin.getByRole('button', { name: 'Select', exact: true }).click();
  for (const name of ['anna', 'ben']) {
    const mark = admin.getByRole('checkbox', { name: `Select ${name}` });
    await mark.click();
    await expect.poll(() => mark.getAttribute('aria-checked')).toBe('true');
  }
  await admin.getByRole('button', { name: 'Change', exact: true }).click();
  await admin.getByRole('menuitem', { name: 'Status' }).click();
  const dialog = admin.getByRole('dialog');
  await dialog.getByText('For 2 accounts.').waitFor();
  await dialog.getByRole('radio', { name: /^Disabled/ }).check();
  await dialog.getByText('2 accounts will change.').waitFor();
  await dialog.getByRole('button', { name: 'Change 2 accounts' }).click();
  await dialog.waitFor({ state: 'detached' });
  const row = (name: string) => admin.getByRole('row').filter({ hasText: `@${name}` });
  for (const name of ['anna', 'ben']) await row(name).getByText('Disabled').waitFor();
  await row('cleo').getByText('Active').waitFor();
});

test('an administrator exports accounts and imports a file after seeing the differences', async () => {
  await admin.goto('/admin/users?role=member');
  await admin.getByRole('link', { name: 'cleo' }).waitFor();
  const [download] = await Promise.all([
    admin.waitForEvent('download'),
    admin.getByRole('button', { name: 'Export as CSV' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain('cleo,,,member,,');
  await admin.getByRole('link', { name: 'Import', exact: true }).click();
  const file = 'username,fullname,role\ncleo,Cleo M,viewer\ndora,Dora,member\nemil,Emil,boss\n';
  await admin
    .getByLabel('Choose a CSV file')
    .setInputFiles(fileOf('people.csv', Buffer.from(file), 'text/csv'));
  await admin.getByText('Row 4 (emil): role not found').waitFor();
  await admin.getByRole('list', { name: 'Differences' }).getByText('Cleo M').waitFor();
  await admin.getByRole('button', { name: 'Import these changes' }).click();
  await admin.getByText('1 account was created.').waitFor();
  await admin.getByText('1 account was changed.').waitFor();
  await admin.getByRole('link', { name: 'All users' }).first().click();
  await admin.getByRole('link', { name: 'Cleo M' }).waitFor();
});

test('an administrator tests a provider with claims, and makes and revokes a token for its directory', async () => {
  await call(admin, 'POST', '/admin/providers', {
    kind: 'oidc',
    name: 'studio',
    label: 'Studio account',
    issuer: provider.issuer,
    client_id: client.id,
    client_secret: client.secret,
    creation: 'first_sign_in',
    role_mapping: [{ group: 'guests', role: 'viewer' }],
  });
  await admin.goto('/admin/providers/studio');
  const claims = admin.getByLabel('Claims (optional)');
  await claims.fill('{"sub": "1", "preferred_username": "fay", "groups": ["guests"]');
  await admin.getByText('This is not a JSON object.').waitFor();
  await claims.fill('{"sub": "1", "preferred_username": "fay", "groups": ["guests"]}');
  await admin.getByRole('button', { name: 'Test', exact: true }).click();
  await admin.getByText('Configuration: in order').waitFor();
  await admin.getByText('A new account').waitFor();
  await expect
    .poll(() => admin.getByRole('definition').allInnerTexts())
    .toEqual(expect.arrayContaining(['fay', 'guests', 'viewer']));

  await admin.getByText('No tokens yet.').waitFor();
  await admin.getByLabel('Name of a new token').fill('Entra ID');
  await admin.getByRole('button', { name: 'Create token' }).click();
  const tokens = admin.getByRole('list', { name: 'SCIM tokens' });
  await tokens.getByText('Entra ID').waitFor();
  expect(await admin.getByLabel('The new token, which is not shown again').inputValue()).toMatch(/^vt_scim_/);
  await tokens.getByRole('button', { name: 'Revoke' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await admin.getByText('No tokens yet.').waitFor();
});
