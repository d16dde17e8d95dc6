import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { call, upload } from './call.ts';
import { overhang, phone } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara', { viewport: { width: 1440, height: 900 } });
const onPhone = await studio.enter('mara', phone);
const pier = await upload(mara, await jpeg(90, 60), { title: 'Pier' });
const hill = await upload(mara, await jpeg(60, 90), { title: 'Hill' });

const titleOf = async (id: string) => (await call(mara, 'GET', `/assets/${id}`)).title;

test('metadata is exported, changed in a file, compared and imported', async () => {
  await mara.goto('/assets');
  const downloading = mara.waitForEvent('download');
  const more = mara.getByRole('button', { name: 'More', exact: true });
  await more.click();
  await mara.getByRole('menuitem', { name: 'Export as CSV' }).click();
  const path = join(studio.directory, 'metadata.csv');
  await (await downloading).saveAs(path);
  const csv = await readFile(path, 'utf8');
  expect(csv).toMatch(/^\ufeffid,file_name,file_hash,title/);
  await writeFile(path, csv.replace('Pier', 'Long pier').replace('Hill', '!clear'));

  await more.click();
  await mara.getByRole('menuitem', { name: 'Import CSV' }).click();
  await mara.getByRole('heading', { name: 'Import metadata' }).waitFor();
  await mara.getByLabel('Choose a CSV file').setInputFiles(path);
  await mara.getByText('2 values of 2 files will change.').waitFor();
  const differences = mara.getByRole('list', { name: 'Differences' });
  await differences.getByText('Long pier').waitFor();
  await differences.getByText('removed').waitFor();
  expect(await titleOf(pier.id)).toBe('Pier');
  await mara.getByRole('button', { name: 'Import these changes' }).click();
  const progress = mara.getByRole('status', { name: 'Progress' });
  await progress.getByText('Metadata imported').waitFor();
  await progress.getByText('2 files changed').waitFor();
  expect([await titleOf(pier.id), await titleOf(hill.id)]).toEqual(['Long pier', '']);
});

test('on a phone, a faulty file says which cell is wrong, and another is imported', async () => {
  const path = join(studio.directory, 'faulty.csv');
  await writeFile(path, `id,title\n${pier.id},Quay\n${pier.id},Quay\n`);
  await onPhone.goto('/assets/import');
  await onPhone.getByLabel('Choose a CSV file').setInputFiles(path);
  await onPhone.getByText('Row 3, column id:').waitFor();
  await writeFile(
    path,
    `id,title\n${pier.id},Quay with a rather long name that needs several lines on a phone\n`,
  );
  await onPhone.getByLabel('Choose another file').setInputFiles(path);
  await onPhone.getByText('1 value of 1 file will change.').waitFor();
  expect(await overhang(onPhone)).toBe(0);
  await onPhone.getByRole('button', { name: 'Import these changes' }).click();
  await onPhone.getByRole('status', { name: 'Progress' }).getByText('Metadata imported').waitFor();
  expect(await titleOf(pier.id)).toMatch(/^Quay with/);
  expect(await overhang(onPhone)).toBe(0);
});
