import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Mailbox, openMailbox, smtpError } from '../mail/mailbox.ts';
import { openBrowser } from '../support/browser.ts';
import { jpeg } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

let directory: string;
let service: ServiceProcess;
let browser: Browser;
let mara: Page;
let otto: Page;
let postId: string;
let mailbox: Mailbox;
const faults: string[] = [];
// Not what an address can hold as it is.
const password = 's3cr#t @:/%';

async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => faults.push(error.message));
  return page;
}

/** Calls the service as the page's session; the answer's JSON, undefined where it says nothing. */
async function call(page: Page, method: string, path: string, body?: unknown) {
  const { status, text } = await callFrom(page, method, path, body);
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

async function signIn(page: Page, username: string, secret: string): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
}

/** The bell, by what it says. */
function bell(page: Page, name: string) {
  return page.getByRole('banner').getByLabel(name, { exact: true }).filter({ visible: true });
}

async function comment(page: Page, words: string): Promise<string> {
  const { id } = await call(page, 'POST', `/posts/${postId}/comments`, { body: words });
  return id;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-notifications-'));
  await chmod(directory, 0o755);
  mailbox = await openMailbox({
    onAuth: (given, _, done) =>
      given.username === 'post@example.org' && given.password === password
        ? done(null, { user: 'post' })
        : done(smtpError(535, 'this is not your password')),
  });
  service = await startProcess(directory);
  browser = await openBrowser();
  mara = await openPage();
  await mara.goto(service.address);
  await mara.getByLabel('Library name').fill('Studio North');
  await mara.getByLabel('Username').fill('mara');
  await mara.getByLabel('Password', { exact: true }).fill('a long password');
  await mara.getByLabel('Type it again').fill('a long password');
  await mara.getByRole('button', { name: 'Create library' }).click();
  await mara.getByRole('button', { name: 'Account', exact: true }).waitFor();
  await call(mara, 'POST', '/admin/users', {
    username: 'otto',
    password: 'another password',
    fullname: 'Otto Brandt',
    role: 'member',
  });
  const uploaded = await mara.request.post(`${service.address}/api/v1/assets`, {
    headers: { origin: service.address },
    multipart: {
      title: 'Quay',
      file: { name: 'q.jpg', mimeType: 'image/jpeg', buffer: Buffer.from(await jpeg(900, 600)) },
    },
  });
  const asset: { id: string } = await uploaded.json();
  const post = await call(mara, 'POST', '/posts', {
    title: 'Quay at dusk',
    members: [{ asset_id: asset.id }],
  });
  postId = post.id;
  otto = await openPage({ viewport: { width: 375, height: 740 } });
  await otto.goto(`${service.address}/sign-in`);
  await signIn(otto, 'otto', 'another password');
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await mailbox?.close();
  service?.child.kill('SIGTERM');
  expect(await service?.exited).toBe(0);
  await rm(directory, { recursive: true, force: true });
});

test('a comment arrives live, leads to its place, and is read in every window', async () => {
  const elsewhere = await openPage({ storageState: await mara.context().storageState() });
  await elsewhere.goto(`${service.address}/notifications`);
  await elsewhere.getByText('Nothing has happened yet').waitFor();
  await mara.goto(service.address);
  await bell(mara, 'Notifications').waitFor();
  expect(await mara.title()).toBe('Studio North');

  // Written in one browser, told in the other without a reload: by the bell, by the title and in the list.
  await otto.goto(`${service.address}/posts/${postId}`);
  await otto.getByRole('button', { name: 'Watch' }).waitFor();
  await otto.getByLabel('Write a comment').fill('The light on the water!');
  await otto.getByRole('button', { name: 'Comment', exact: true }).click();
  await bell(mara, 'Notifications, 1 unread').waitFor();
  await expect.poll(() => mara.title()).toBe('(1) Studio North');
  const row = elsewhere.getByRole('link', { name: /Otto Brandt commented on your post Quay at dusk/ });
  await row.getByText('The light on the water!').waitFor();
  await expect.poll(() => elsewhere.title()).toBe('(1) Notifications · Studio North');

  // Opened from the panel: at the comment, which has the focus and stands out.
  await bell(mara, 'Notifications, 1 unread').click();
  const panel = mara.getByRole('dialog', { name: 'Notifications' });
  await panel.getByRole('link', { name: /Unread: Otto Brandt commented/ }).click();
  await mara.waitForURL(/\/posts\/.*#comment-/);
  const entry = mara.getByRole('article', { name: 'Comment by Otto Brandt' });
  await expect.poll(() => entry.evaluate((one) => one === document.activeElement)).toBe(true);
  expect(await entry.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
  await bell(mara, 'Notifications').waitFor();
  await expect.poll(() => mara.title()).toBe('Quay at dusk · Studio North');

  // Read there is read everywhere, at once.
  await bell(elsewhere, 'Notifications').waitFor();
  await expect.poll(() => elsewhere.getByRole('link', { name: /^Unread:/ }).count()).toBe(0);
  await row.waitFor();
  expect(await call(mara, 'GET', '/account/notifications/unread-count')).toEqual({ count: 0 });

  // A reply that mentions somebody by the name that is offered while typing.
  await entry.getByRole('button', { name: 'Reply to Otto Brandt' }).click();
  await mara.getByLabel('Your reply').pressSequentially('Thank you, @ot');
  await mara.getByRole('option', { name: /Otto Brandt/ }).waitFor();
  await mara.keyboard.press('Enter');
  await mara.keyboard.type('!');
  expect(await mara.getByLabel('Your reply').inputValue()).toBe('Thank you, @otto !');
  await mara.getByRole('button', { name: 'Reply', exact: true }).click();
  const mention = mara.getByRole('link', { name: '@otto' });
  await mention.waitFor();
  expect(await mention.getAttribute('href')).toBe('/users/otto');

  // On a phone the bell leads to a page.
  await bell(otto, 'Notifications, 1 unread').click();
  await otto.waitForURL(`${service.address}/notifications`);
  const told = otto.getByRole('link', { name: /mara (mentioned you in|replied to you on) Quay at dusk/ });
  await told.getByText('Thank you, @otto !').waitFor();
  await otto.getByRole('button', { name: 'Mark all read' }).click();
  await bell(otto, 'Notifications').waitFor();
  expect(await otto.getByRole('link', { name: /^Unread:/ }).count()).toBe(0);
  await otto.getByRole('link', { name: 'Unread', exact: true }).click();
  await otto.getByText('You have read everything.').waitFor();
  expect(await call(otto, 'GET', '/account/notifications/unread-count')).toEqual({ count: 0 });
  await elsewhere.close();
  expect(faults).toEqual([]);
}, 90_000);

test('whoever comments watches, and may stop', async () => {
  await otto.goto(`${service.address}/posts/${postId}`);
  await otto.getByRole('button', { name: 'Stop watching' }).click();
  await otto.getByRole('button', { name: 'Watch', exact: true }).waitFor();
  expect(await call(otto, 'GET', `/posts/${postId}/watch`)).toEqual({ watching: false });
  await otto.reload();
  await otto.getByRole('button', { name: 'Watch', exact: true }).click();
  await otto.getByRole('button', { name: 'Stop watching' }).waitFor();
  expect(await call(otto, 'GET', `/posts/${postId}/watch`)).toEqual({ watching: true });
  expect(faults).toEqual([]);
}, 60_000);

test('without the stream it is asked for each minute', async () => {
  await call(mara, 'POST', '/account/notifications/read-all');
  const cut = await openPage({ storageState: await mara.context().storageState() });
  await cut.route('**/api/v1/events', (route) => route.abort());
  await cut.clock.install();
  await cut.goto(service.address);
  await bell(cut, 'Notifications').waitFor();
  await comment(otto, 'Is anybody there?');
  await bell(mara, 'Notifications, 1 unread').waitFor();
  expect(await bell(cut, 'Notifications').count()).toBe(1);
  await cut.clock.fastForward(61_000);
  await bell(cut, 'Notifications, 1 unread').waitFor();
  await call(mara, 'POST', '/account/notifications/read-all');
  await cut.close();
  expect(faults).toEqual([]);
}, 60_000);

test('a mail server is set up, tried in its own words, and keeps its password', async () => {
  await call(mara, 'PATCH', '/admin/system/site', { base_url: service.address });
  await mara.goto(`${service.address}/admin/mail`);
  await mara.getByText('No mail is sent.').waitFor();
  const form = mara.getByRole('dialog');
  const { port } = new URL(mailbox.url);
  const setUp = async (secret: string) => {
    await form.getByLabel('Server').fill('127.0.0.1');
    await form.getByLabel('Port').fill(port);
    await form.getByLabel('Encryption').selectOption('off');
    await form.getByLabel('User name').fill('post@example.org');
    await form.getByLabel('Password').fill(secret);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
  };
  await mara.getByRole('button', { name: 'Set up' }).click();
  await setUp('wrong');
  await mara.getByText(`127.0.0.1, port ${port}`).waitFor();

  // What the server says to it, word for word.
  await mara.getByLabel('To').fill('someone@example.org');
  await mara.getByRole('button', { name: 'Send test message' }).click();
  await mara.getByRole('alert').filter({ hasText: 'this is not your password' }).waitFor();
  expect(mailbox.mails).toEqual([]);

  await mara.getByRole('button', { name: 'Change', exact: true }).click();
  expect(await form.getByLabel('User name').inputValue()).toBe('post@example.org');
  expect(await form.getByLabel('Password').inputValue()).toBe('');
  await setUp(password);
  await mara.getByRole('button', { name: 'Send test message' }).click();
  await mara.getByRole('status').filter({ hasText: 'kept as 42' }).waitFor();
  expect(mailbox.to('someone@example.org')).toHaveLength(1);

  // Another sender, and the password is still there.
  await mara.getByLabel('Address', { exact: true }).fill('library@example.org');
  await mara.getByLabel('Name', { exact: true }).fill('The Library');
  await mara.getByRole('button', { name: 'Save sender' }).click();
  await mara.getByText('Saved', { exact: true }).waitFor();
  await mara.getByRole('button', { name: 'Send test message' }).click();
  await expect.poll(() => mailbox.to('someone@example.org').length).toBe(2);
  expect(mailbox.mails.at(-1)?.from).toEqual({ address: 'library@example.org', name: 'The Library' });

  // Who may not look after the library finds the page closed.
  await otto.goto(`${service.address}/admin/mail`);
  await otto.getByText('This page is not open to your account').waitFor();
  expect(faults).toEqual([]);
}, 90_000);

test('what is chosen is kept; a mail leads to the comment, and to having no more of them', async () => {
  await otto.goto(`${service.address}/settings/notifications`);
  await otto.getByText('Your account has no mail address yet').waitFor();
  await otto.getByRole('link', { name: 'Add one to your profile' }).click();
  await otto.getByLabel('E-mail').fill('otto@example.org');
  await otto.getByRole('button', { name: 'Save profile' }).click();
  await otto.getByText('Saved', { exact: true }).waitFor();

  await otto.goto(`${service.address}/settings/notifications`);
  await otto.getByText('It goes to otto@example.org.').waitFor();
  await otto.getByLabel('Comments on posts you watch: by mail').selectOption('now');
  await otto.getByText('Kept', { exact: true }).waitFor();
  await otto.getByLabel('Likes: in the library').click();
  await otto.getByLabel('How often').selectOption('week');
  await otto.getByLabel('Day', { exact: true }).selectOption('Friday');
  await otto.getByLabel('Hour').selectOption('17');
  await expect
    .poll(() => call(otto, 'GET', '/account/notification-preferences'))
    .toMatchObject({
      kinds: { watched_comment: { in_app: true, mail: 'now' }, like: { in_app: false, mail: 'off' } },
      digest: { every: 'week', hour: 17, weekday: 5 },
    });
  await otto.reload();
  await expect.poll(() => otto.getByLabel('Hour').inputValue()).toBe('17');
  expect(await otto.getByLabel('Likes: in the library').getAttribute('aria-checked')).toBe('false');

  mailbox.empty();
  const id = await comment(mara, 'The ferry is back');
  await expect.poll(() => mailbox.to('otto@example.org').length, { timeout: 15_000 }).toBe(1);
  const text = mailbox.to('otto@example.org')[0]?.text ?? '';
  const link = /\S+#comment-\S+/.exec(text)?.[0] ?? '';
  expect(link).toBe(`${service.address}/posts/${postId}#comment-${id}`);

  // Who is not signed in signs in on the way.
  const other = await openPage();
  await other.goto(link);
  await other.waitForURL(/\/sign-in/);
  await signIn(other, 'otto', 'another password');
  const entry = other
    .getByRole('article', { name: 'Comment by mara' })
    .filter({ hasText: 'The ferry is back' });
  await expect.poll(() => entry.evaluate((one) => one === document.activeElement)).toBe(true);

  // A comment that is gone is said to be.
  await call(mara, 'DELETE', `/comments/${id}`);
  await other.reload();
  await other.getByText('The comment you were sent to is not here any more.').waitFor();

  // The address in the mail turns mail off once its button is pressed, and the settings show it.
  const off = /\S+\/mail\/unsubscribe\?token=\S+/.exec(text)?.[0] ?? '';
  const reader = await openPage();
  await reader.goto(off);
  expect(await call(otto, 'GET', '/account/notification-preferences')).toMatchObject({ mail_enabled: true });
  await reader.getByRole('button', { name: 'Turn mail off' }).click();
  await reader.getByText('Mail is off.').waitFor();
  await otto.goto(`${service.address}/settings/notifications`);
  const mail = otto.getByRole('switch', { name: 'Send me mail' });
  await expect.poll(() => mail.getAttribute('aria-checked')).toBe('false');
  expect(await otto.getByLabel('Replies: by mail').isDisabled()).toBe(true);
  await mail.click();
  await expect
    .poll(() => call(otto, 'GET', '/account/notification-preferences'))
    .toMatchObject({ mail_enabled: true });
  expect(faults).toEqual([]);
}, 90_000);
