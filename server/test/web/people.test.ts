import { expect, test } from 'vitest';
import { grant } from '../support/people.ts';
import { call } from './call.ts';
import { overhang, visit } from './hands.ts';
import { openStudio } from './studio.ts';

const studio = await openStudio();
const mara = await studio.enter('mara');
const otto = await studio.join('otto', 'Otto Brandt');
const { ref } = await call(otto, 'GET', '/auth/me');
await grant(studio.library, { ref }, 'jobs.read');

test.each([390, 1440])(
  'an administrator edits a person and sees why they may do what, at %d pixels',
  async (width) => {
    await mara.setViewportSize({ width, height: 900 });
    const form = mara.getByRole('dialog');
    await visit(mara, `/admin/users/${ref}`);
    await mara.getByText('Yes, with a password').waitFor();
    await mara.getByRole('button', { name: 'Edit the account' }).click();
    await form.getByLabel('Display name').fill(`Otto ${width}`);
    await form.getByLabel('E-mail').fill(`otto-${width}@example.org`);
    await form.getByLabel('Language').selectOption('de');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    await mara.getByText(`otto-${width}@example.org`).waitFor();
    const account = await call(mara, 'GET', `/admin/users/${ref}`);
    expect(account).toMatchObject({
      fullname: 'Otto Brandt',
      own_display_name: `Otto ${width}`,
      language: 'de',
      expires_at: null,
    });
    await mara.getByRole('heading', { name: `Otto ${width}` }).waitFor();
    await mara.getByRole('button', { name: 'Edit the account' }).click();
    await form.getByLabel('Display name').fill('');
    await form.getByRole('button', { name: 'Save' }).click();
    await mara.getByRole('heading', { name: 'Otto Brandt', exact: true }).waitFor();

    await mara.getByRole('link', { name: 'Why' }).click();
    await mara.getByRole('heading', { name: 'What may Otto Brandt do, and why' }).waitFor();
    const item = (label: string) => mara.getByRole('listitem').filter({ hasText: `${label}: ` });
    await item('See background jobs').getByText('Granted to this account').waitFor();
    await item('Upload files').getByText('The role Member').waitFor();
    await item('See restricted assets').getByText('no', { exact: false }).first().waitFor();
    expect(await overhang(mara)).toBe(0);
  },
);

test.each([390, 1440])(
  'an administrator filters people and sign-ins, and sets the rules of signing in, at %d pixels',
  async (width) => {
    await mara.setViewportSize({ width, height: 900 });
    await visit(mara, '/admin/users');
    await mara.getByLabel('Signing in').selectOption('No password yet');
    await mara.getByText('No matching accounts.').waitFor();
    await mara.getByLabel('Signing in').selectOption('Can sign in');
    await mara.getByRole('link', { name: 'Otto Brandt' }).waitFor();
    await mara.waitForURL(/\?can_sign_in=true$/);
    expect(await overhang(mara)).toBe(0);

    await visit(mara, '/admin/sign-ins');
    const list = mara.getByRole('list', { name: 'Sign-ins' });
    await list.getByRole('listitem').filter({ hasText: 'mara' }).first().waitFor();
    await mara.getByLabel('Result').selectOption('Failed attempts');
    await mara.getByText('No matching sign-ins.').waitFor();
    await mara.getByRole('button', { name: 'Change the rules' }).click();
    const form = mara.getByRole('dialog');
    await form.getByLabel('Days until an unused session ends').fill(String(width));
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Enter a whole number from 1 to 365.').waitFor();
    await form.getByLabel('Days until an unused session ends').fill('14');
    await form.getByRole('button', { name: 'Save' }).click();
    // In the second round, the page says so before, too.
    await form.waitFor({ state: 'detached' });
    await mara.getByText('A session ends 14 days after its last use.').waitFor();
    expect(await overhang(mara)).toBe(0);
    await visit(mara, '/settings/security');
    await mara
      .getByRole('list', { name: 'Recent sign-ins' })
      .getByText('Signed in with a password')
      .first()
      .waitFor();
    expect(await overhang(mara)).toBe(0);
  },
);

test.each([390, 1440])(
  'an administrator gives roles in a team and merges accounts, at %d pixels',
  async (width) => {
    await mara.setViewportSize({ width, height: 900 });
    const old = await studio.join(`old-${width}`, `Old ${width}`);
    const { ref: oldRef } = await call(old, 'GET', '/auth/me');
    await call(old, 'POST', '/collections', { name: `Kept ${width}` });
    const team = await call(mara, 'POST', '/teams', { name: `Print ${width}` });
    await call(mara, 'PUT', `/teams/${team.id}/members/${oldRef}`);
    await visit(mara, `/teams/${team.id}?show=members`);
    const role = mara.getByLabel(`Role of Old ${width}`);
    await role.selectOption('Lead');
    await expect
      .poll(async () => {
        const { items } = await call(mara, 'GET', `/teams/${team.id}/members`);
        return items.find((item: { user_ref: number }) => item.user_ref === oldRef)?.role;
      })
      .toBe('lead');
    expect(await overhang(mara)).toBe(0);

    await visit(mara, `/admin/users/${oldRef}`);
    await mara.getByRole('button', { name: 'Give to another account' }).click();
    const form = mara.getByRole('dialog');
    await form.getByLabel('Merge into another account').check();
    await form.getByLabel('The other account').fill('otto');
    await form.getByRole('button', { name: 'Count' }).click();
    await form.getByText('1 collection, 1 team').waitFor();
    expect(await overhang(mara)).toBe(0);
    await form.getByRole('button', { name: 'Merge', exact: true }).click();
    await form.waitFor({ state: 'hidden' });
    await mara.getByText('Done: 1 collection, 1 team').waitFor();
    expect(await call(mara, 'GET', `/admin/users/${oldRef}`)).toMatchObject({ status: 'archived' });
  },
);

test('an administrator signs everyone else out', async () => {
  await visit(mara, '/admin/sign-ins');
  await mara.getByRole('button', { name: 'Sign everyone out' }).click();
  await mara.getByRole('alertdialog').getByRole('button', { name: 'Sign everyone out' }).click();
  await mara.getByText('Everyone else is signed out.').waitFor();
  expect((await otto.request.get(`${studio.library.address}/api/v1/me`)).status()).toBe(401);
});
