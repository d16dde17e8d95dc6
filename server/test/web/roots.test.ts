import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const folder = await temporaryDirectory();
await writeFile(join(folder, 'harbour.jpg'), await jpeg(60, 40));
const studio = await openStudio();

// ROOT-2
test('an administrator adds a folder, which is scanned, and removes it on a phone', async () => {
  const admin = await studio.enter('mara', { viewport: { width: 1440, height: 900 } });
  await visit(admin, '/admin/roots');
  await admin.getByText('There are no folders in place.').waitFor();
  await admin.getByRole('button', { name: 'Add a folder' }).click();
  const form = admin.getByRole('dialog');
  const path = form.getByLabel('Path', { exact: true });
  await path.fill('relative');
  await form.getByLabel('Who may see the files').selectOption('org');
  await form.getByRole('button', { name: 'Add folder' }).click();
  await form.getByText('path is not absolute').waitFor();
  await path.fill(folder);
  await form.getByRole('button', { name: 'Add folder' }).click();
  await form.waitFor({ state: 'detached' });
  const row = admin.getByRole('list', { name: 'Folders' }).getByRole('listitem').filter({ hasText: folder });
  await row.getByText('Scanned', { exact: true }).waitFor();
  await row.getByText('1 asset of').waitFor();
  expect(await overhang(admin)).toBe(0);

  const mobile = await studio.enter('mara', phone);
  await visit(mobile, '/admin/roots');
  const listed = mobile.getByRole('listitem').filter({ hasText: folder });
  await listed.getByRole('button', { name: 'Edit' }).click();
  await mobile.getByRole('dialog').getByLabel('Left out').fill('*.tmp');
  await mobile.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await mobile.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await overhang(mobile)).toBe(0);
  await listed.getByRole('button', { name: 'Remove' }).click();
  await mobile.getByRole('alertdialog').getByRole('button', { name: 'Remove folder' }).click();
  await mobile.getByText('There are no folders in place.').waitFor();
});
