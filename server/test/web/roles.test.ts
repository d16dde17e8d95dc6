import { expect, test } from 'vitest';
import { grant } from '../support/people.ts';
import { call } from './call.ts';
import { overhang, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');

test.each([390, 1440])('roles are created, copied, edited and deleted at %d pixels', async (width) => {
  await mara.setViewportSize({ width, height: 900 });
  const form = mara.getByRole('dialog');
  const card = (name: string) =>
    mara.getByRole('region').filter({ has: mara.getByRole('heading', { name, exact: true }) });
  await mara.goto('/admin/roles');
  // Each capability is explained below its group.
  await card('Member').getByRole('heading', { name: 'Uploading and posting' }).waitFor();
  await card('Member').getByText('Uploads files and edits and deletes their own.').waitFor();
  expect(
    await card('Administrator')
      .getByRole('button', { name: /Edit|Delete/ })
      .count(),
  ).toBe(0);
  expect(await overhang(mara)).toBe(0);

  await mara.getByRole('button', { name: 'New role' }).click();
  await form.getByRole('textbox', { name: 'Name' }).fill(`Print team ${width}`);
  await expect.poll(() => form.getByLabel('Code').inputValue()).toBe(`print-team-${width}`);
  await form.getByLabel('Includes the role').selectOption('Viewer');
  // The parent's capability is checked and cannot be taken out.
  await expect.poll(() => form.getByLabel('See teams').isChecked()).toBe(true);
  await expect.poll(() => form.getByLabel('See teams').isDisabled()).toBe(true);
  await form.getByLabel('Upload files').check();
  await form.getByLabel('Code').fill('member');
  await form.getByRole('button', { name: 'Create role' }).click();
  await form.getByText('That code is taken.').waitFor();
  await form.getByLabel('Code').fill(`prints-${width}`);
  expect(await overhang(mara)).toBe(0);
  await form.getByRole('button', { name: 'Create role' }).click();
  await form.waitFor({ state: 'hidden' });
  await card(`Print team ${width}`).getByText('Includes what Viewer gives.').waitFor();
  await card(`Print team ${width}`).getByText('Upload files').waitFor();

  await mara.getByRole('button', { name: `Edit Print team ${width}` }).click();
  await form.getByRole('textbox', { name: 'Name' }).fill(`Prints ${width}`);
  await form.getByLabel('Upload files').uncheck();
  await form.getByLabel('Write comments').check();
  await form.getByRole('button', { name: 'Save role' }).click();
  await form.waitFor({ state: 'hidden' });
  await card(`Prints ${width}`).getByText('Write comments').waitFor();
  await expect.poll(() => card(`Prints ${width}`).getByText('Upload files').count()).toBe(0);

  await mara.getByRole('button', { name: `Copy Prints ${width}` }).click();
  await expect.poll(() => form.getByLabel('Write comments').isChecked()).toBe(true);
  await form.getByRole('button', { name: 'Create role' }).click();
  await form.waitFor({ state: 'hidden' });
  await mara.getByRole('button', { name: `Delete Prints ${width} (copy)` }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Delete role' }).click();
  await mara.getByRole('alertdialog').waitFor({ state: 'hidden' });
  await expect.poll(() => card(`Prints ${width} (copy)`).count()).toBe(0);

  await mara.getByRole('button', { name: 'Use the template Reviewer' }).click();
  await expect.poll(() => form.getByLabel('Code').inputValue()).toBe('reviewer');
  await form.getByLabel('Code').fill(`reviewer-${width}`);
  await form.getByRole('button', { name: 'Create role' }).click();
  await form.waitFor({ state: 'hidden' });
  const { items } = await call(mara, 'GET', '/auth/roles');
  const codes = items.map(({ code }: { code: string }) => code);
  expect(codes.filter((code: string) => code.endsWith(String(width)))).toEqual([
    `prints-${width}`,
    `reviewer-${width}`,
  ]);
});

test('a reader of roles sees them without buttons, and a writer may not choose what they lack', async () => {
  const otto = await studio.join('otto', 'Otto Brandt');
  const { ref } = await call(otto, 'GET', '/auth/me');
  await grant(studio.library, { ref }, ['roles.read', 'caps.read']);
  await visit(otto, '/admin/roles');
  await otto.getByRole('heading', { name: 'Member', exact: true }).waitFor();
  expect(await otto.getByRole('button', { name: /role|Edit|Copy/ }).count()).toBe(0);
  await grant(studio.library, { ref }, 'roles.write');
  await otto.reload();
  await otto.getByRole('button', { name: 'New role' }).click();
  const isDisabled = (label: string) => otto.getByRole('dialog').getByLabel(label).isDisabled();
  await expect.poll(() => isDisabled('See restricted assets')).toBe(true);
  await expect.poll(() => isDisabled('Upload files')).toBe(false);
});
