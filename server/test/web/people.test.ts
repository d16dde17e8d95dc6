import { expect, test } from 'vitest';
import { grant } from '../support/people.ts';
import { call } from './call.ts';
import { visit } from './hands.ts';
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
    await form.getByLabel('E-mail').fill(`otto-${width}@example.org`);
    await form.getByLabel('Language').fill('de');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    await mara.getByText(`otto-${width}@example.org`).waitFor();
    const account = await call(mara, 'GET', `/admin/users/${ref}`);
    expect(account).toMatchObject({ fullname: 'Otto Brandt', language: 'de', expires_at: null });

    await mara.getByRole('link', { name: 'Why' }).click();
    await mara.getByRole('heading', { name: 'What may Otto Brandt do, and why' }).waitFor();
    const item = (label: string) => mara.getByRole('listitem').filter({ hasText: `${label}: ` });
    await item('See background jobs').getByText('Granted to this account').waitFor();
    await item('Upload files').getByText('The role Member').waitFor();
    await item('See restricted assets').getByText('no', { exact: false }).first().waitFor();
    const beyond = await mara.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(beyond).toBe(0);
  },
);
