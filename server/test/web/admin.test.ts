import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
const faults: string[] = [];

/** A page with cookies of its own. */
async function openPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  return page;
}

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.goto(`${service.address}/sign-in`);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
}

/** What the page's own session is, asked from the page. */
function whoAmI(page: Page): Promise<{ username: string; impersonated_by: { username: string } | null }> {
  return page.evaluate(async () => (await fetch('/api/v1/auth/me')).json());
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-admin-'));
  await chmod(directory, 0o755);
  service = await startProcess(directory);
  browser = await openBrowser();
});

afterAll(async () => {
  await browser.close();
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('an administrator makes an account, gives, acts as it, reads the log and keeps it out', async () => {
  const admin = await openPage();
  await admin.goto(service.address);
  await admin.getByLabel('Library name').fill('Studio North');
  await admin.getByLabel('Username').fill('mara');
  await admin.getByLabel('Password', { exact: true }).fill('a long password');
  await admin.getByLabel('Type it again').fill('a long password');
  await admin.getByRole('button', { name: 'Create library' }).click();
  await admin.getByRole('button', { name: 'Account' }).waitFor();

  // `/admin` leads to the first section; a refusal is told in the service's words.
  await admin.goto(`${service.address}/admin`);
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

  // The dialog gives the focus back to the button that opened it.
  const change = admin.getByRole('button', { name: 'Change status' });
  await change.click();
  await admin.getByRole('alertdialog').waitFor();
  await admin.keyboard.press('Escape');
  await expect.poll(() => change.evaluate((button) => button === document.activeElement)).toBe(true);

  // A grant shows at once, and opens the pages to the account.
  await admin.getByRole('button', { name: 'Give', exact: true }).click();
  await form.getByLabel('Capability').selectOption('users.read');
  await form.getByLabel('Note').fill('Helps out');
  await form.getByRole('button', { name: 'Give' }).click();
  await admin.getByText('“Helps out”').waitFor();
  await form.waitFor({ state: 'hidden' });
  await admin.getByRole('button', { name: 'Give', exact: true }).click();
  await form.getByLabel('Capability').selectOption('roles.read');
  await form.getByRole('button', { name: 'Give' }).click();
  await admin.getByRole('button', { name: 'Take back: See roles' }).waitFor();

  const otto = await openPage();
  await signIn(otto, 'otto', 'another password');
  await otto.goto(`${service.address}/admin`);
  await otto
    .getByRole('link', { name: 'Otto Brandt' })
    .or(otto.getByRole('link', { name: 'otto' }))
    .waitFor();
  const sections = otto.getByRole('navigation', { name: 'Administration' }).getByRole('link');
  expect(await sections.allInnerTexts()).toEqual(['Users', 'Roles']);
  expect(await otto.getByRole('button', { name: 'New account' }).count()).toBe(0);
  await otto.goto(`${service.address}/admin/audit`);
  await otto.getByText('This page is not open to your account').waitFor();

  // What was given is taken back, after a word about it.
  await admin.getByRole('button', { name: 'Take back: See roles' }).click();
  const confirmation = admin.getByRole('alertdialog');
  await confirmation.getByText('Take back “See roles”?').waitFor();
  await confirmation.getByRole('button', { name: 'Take back' }).click();
  await admin.getByRole('button', { name: 'Take back: See roles' }).waitFor({ state: 'detached' });
  await otto.goto(`${service.address}/admin/roles`);
  await otto.getByText('This page is not open to your account').waitFor();
  expect(await sections.allInnerTexts()).toEqual(['Users']);

  // A filter by name and event; the sentence names both.
  await admin.goto(`${service.address}/admin/audit`);
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

  // Acting as somebody: the very next request is theirs.
  await admin.goto(accountAddress);
  await admin.getByRole('button', { name: 'Act as this person' }).click();
  await form.getByLabel('Reason').fill('Cannot find his posts');
  await form.getByRole('button', { name: 'Act as Otto Brandt' }).click();
  await admin.waitForURL(`${service.address}/`);
  expect(await whoAmI(admin)).toMatchObject({ username: 'otto', impersonated_by: { username: 'mara' } });
  await admin.evaluate(() => fetch('/api/v1/auth/impersonation/end', { method: 'POST' }));
  await admin.goto(`${service.address}/admin/audit?event=admin.impersonation.started`);
  await events.filter({ hasText: /mara began to act as Otto Brandt/ }).waitFor();

  // A reset password is shown once and works; the old session is gone.
  await admin.goto(accountAddress);
  await admin.getByRole('button', { name: 'Reset password' }).click();
  await confirmation.getByRole('button', { name: 'Reset password' }).click();
  const temporary = await admin.getByLabel('Temporary password').inputValue();
  expect(temporary.length).toBeGreaterThanOrEqual(12);
  await admin.getByRole('button', { name: 'Done' }).click();
  await admin.getByLabel('Temporary password').waitFor({ state: 'detached' });
  await otto.goto(`${service.address}/`);
  await otto.waitForURL(/\/sign-in/);
  await signIn(otto, 'otto', temporary);
  // Signed out of one place by the administrator.
  await admin.reload();
  await admin.getByRole('button', { name: /^End the session Chrome/ }).click();
  await confirmation.getByRole('button', { name: 'End session' }).click();
  await admin.getByText('Nowhere.').waitFor();
  await otto.goto(`${service.address}/`);
  await otto.waitForURL(/\/sign-in/);
  await signIn(otto, 'otto', temporary);
  await otto.goto(`${service.address}/admin/users`);
  await otto.getByRole('heading', { name: 'Users', level: 1 }).waitFor();

  // Kept out: the next thing the account asks for sends it to sign in.
  await change.click();
  await confirmation.getByRole('radio', { name: /Disabled/ }).check();
  await confirmation.getByLabel('Reason').fill('Has left');
  await confirmation.getByRole('button', { name: 'Set status' }).click();
  await confirmation.waitFor({ state: 'hidden' });
  await admin.getByText('Disabled', { exact: true }).waitFor();
  await otto.getByLabel('Search accounts').fill('mara');
  await otto.waitForURL(/\/sign-in/);
  await otto.getByRole('button', { name: 'Sign in' }).waitFor();

  // One's own last administrator stays one, and the page says why.
  await admin.goto(`${service.address}/admin/users?q=mara`);
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
  expect(faults).toEqual([]);
}, 120_000);
