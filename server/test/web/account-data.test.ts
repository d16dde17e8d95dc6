import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { overhang, phone, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();

// EXPORT-17, EXPORT-18
test('a member prepares their data on a phone and downloads it', async () => {
  const ana = await studio.join('ana', 'Ana Sol', phone);
  await visit(ana, '/settings/data');
  await ana.getByRole('button', { name: 'Prepare a download' }).click();
  await ana.getByText('Your download is ready').waitFor();
  expect(await overhang(ana)).toBe(0);
  const [download] = await Promise.all([
    ana.waitForEvent('download'),
    ana.getByRole('link', { name: 'Download ZIP' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^ana \d{4}-\d\d-\d\d\.zip$/);
  expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe('PK');
});

// DELETION-1, DELETION-2, DELETION-3
test('a member asks for deletion, and an administrator refuses with a reason', async () => {
  const ben = await studio.join('ben', 'Ben Lund', { viewport: { width: 1440, height: 900 } });
  await visit(ben, '/settings/data');
  await ben.getByRole('button', { name: 'Ask for deletion' }).click();
  const asking = ben.getByRole('dialog');
  await asking.getByLabel('Note (optional)').fill('I have left the studio.');
  await asking.getByRole('button', { name: 'Ask for deletion' }).click();
  await asking.waitFor({ state: 'detached' });
  await ben.getByText('An administrator will decide.').waitFor();

  const mara = await studio.enter('mara', phone);
  await visit(mara, '/admin/deletions');
  const row = mara.getByRole('listitem').filter({ hasText: 'Ben Lund' });
  await row.getByText('I have left the studio.').waitFor();
  expect(await overhang(mara)).toBe(0);
  await row.getByRole('button', { name: 'Decide' }).click();
  const deciding = mara.getByRole('dialog');
  await deciding.getByRole('radio', { name: 'Refuse' }).check();
  await deciding.getByLabel('Reason', { exact: true }).fill('The contract runs until March.');
  await deciding.getByRole('button', { name: 'Refuse' }).click();
  await deciding.waitFor({ state: 'detached' });
  await row.getByText('Refused', { exact: true }).waitFor();

  await ben.reload();
  await ben.getByText('The contract runs until March.').waitFor();
});
