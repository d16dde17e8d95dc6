import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { openMailbox, smtpError } from '../mail/mailbox.ts';
import { jpeg } from '../support/pictures.ts';
import { call, publish, upload } from './call.ts';
import { dialogClosed, isFocused, offerPassword, visit } from './hands.ts';
import { openStudio } from './studio.ts';

// Needs percent-encoding in an address.
const mailPassword = 's3cr#t @:/%';

/** Returns the bell with this label. */
const bell = (page: Page, name: string) =>
  page
    .getByRole('button')
    .or(page.getByRole('link'))
    .and(page.getByLabel(name, { exact: true }))
    .filter({ visible: true });

async function comment(page: Page, words: string): Promise<string> {
  const { id } = await call(page, 'POST', `/posts/${postId}/comments`, { body: words });
  return id;
}

const mailbox = await openMailbox({
  onAuth: (given, _, done) =>
    given.username === 'post@example.org' && given.password === mailPassword
      ? done(null, { user: 'post' })
      : done(smtpError(535, 'this is not your password')),
});
const studio = await openStudio();
const mara = await studio.enter('mara');
const asset = await upload(mara, await jpeg(90, 60), { title: 'Quay' });
const postId = await publish(mara, 'Quay at dusk', [asset.id]);
const otto = await studio.join('otto', 'Otto Brandt', { viewport: { width: 375, height: 740 } });

afterAll(async () => {
  await studio.close();
  await mailbox.close();
});

test('delivers a comment live, links to it and marks it read in every window', async () => {
  const elsewhere = await mara.context().newPage();
  await elsewhere.goto('/notifications');
  await elsewhere.getByText('No notifications yet').waitFor();
  await mara.goto('/');
  await bell(mara, 'Notifications').waitFor();
  await expect.poll(() => mara.title()).toBe('Studio North');

  // A comment in one browser appears in the other without a reload: in the bell, the title and the list.
  await otto.goto(`/posts/${postId}`);
  await otto.getByRole('button', { name: 'Watch', exact: true }).waitFor();
  await otto.getByLabel('Write a comment').fill('The light on the water!');
  await otto.getByRole('button', { name: 'Comment', exact: true }).click();
  await bell(mara, 'Notifications, 1 unread').waitFor();
  await expect.poll(() => mara.title()).toBe('(1) Studio North');
  // Commenting subscribes to a post until the user unsubscribes.
  await otto.getByRole('button', { name: 'Stop watching' }).click();
  await otto.getByRole('button', { name: 'Watch', exact: true }).click();
  await otto.getByRole('button', { name: 'Stop watching' }).waitFor();
  const row = elsewhere.getByRole('link', { name: /Otto Brandt commented on your post Quay at dusk/ });
  await row.getByText('The light on the water!').waitFor();
  await expect.poll(() => elsewhere.title()).toBe('(1) Notifications · Studio North');

  // Opened from the panel, the page scrolls to the comment, which has the focus and is highlighted.
  await bell(mara, 'Notifications, 1 unread').click();
  const panel = mara.getByRole('dialog', { name: 'Notifications' });
  await panel.getByRole('link', { name: /Unread: Otto Brandt commented/ }).click();
  await mara.waitForURL(/\/posts\/.*#comment-/);
  const entry = mara.getByRole('article', { name: 'Comment by Otto Brandt' });
  await expect.poll(() => isFocused(entry)).toBe(true);
  const isInSight = () => entry.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight);
  await expect.poll(isInSight).toBe(true);
  await bell(mara, 'Notifications').waitFor();
  await expect.poll(() => mara.title()).toBe('Quay at dusk · Studio North');

  // A notification that was read in one window is immediately read in all.
  await bell(elsewhere, 'Notifications').waitFor();
  await expect.poll(() => elsewhere.getByRole('link', { name: /^Unread:/ }).count()).toBe(0);
  await row.waitFor();
  await expect.poll(() => call(mara, 'GET', '/account/notifications/unread-count')).toEqual({ count: 0 });

  // A reply that mentions a person by a name suggested while typing.
  await entry.getByRole('button', { name: 'Reply to Otto Brandt' }).click();
  await mara.getByLabel('Your reply').pressSequentially('Thank you, @ot');
  await mara.getByRole('option', { name: /Otto Brandt/ }).waitFor();
  await mara.keyboard.press('Enter');
  await mara.keyboard.type('!');
  await expect.poll(() => mara.getByLabel('Your reply').inputValue()).toBe('Thank you, @otto !');
  await mara.getByRole('button', { name: 'Reply', exact: true }).click();
  const mention = mara.getByRole('link', { name: '@otto' });
  await mention.waitFor();
  await expect.poll(() => mention.getAttribute('href')).toBe('/users/otto');

  // On a phone the bell leads to a page.
  await bell(otto, 'Notifications, 1 unread').click();
  await otto.waitForURL(`${studio.address}/notifications`);
  const told = otto.getByRole('link', { name: /mara (mentioned you in|replied to you on) Quay at dusk/ });
  await told.getByText('Thank you, @otto !').waitFor();
  await otto.getByRole('button', { name: 'Mark all read' }).click();
  await bell(otto, 'Notifications').waitFor();
  await expect.poll(() => otto.getByRole('link', { name: /^Unread:/ }).count()).toBe(0);
  await otto.getByRole('link', { name: 'Unread', exact: true }).click();
  await otto.getByText('You have read everything.').waitFor();
  await elsewhere.close();
});

test('reconnects when a stopping service says so, and polls each minute when there is no event stream', async () => {
  await call(mara, 'POST', '/account/notifications/read-all');
  // In a context of its own, because its clock is moved.
  const cut = await studio.enter('mara');
  let asked = 0;
  await cut.route('**/api/v1/events', async (route) => {
    asked += 1;
    if (asked > 1) return route.abort();
    // Without the event, the browser would reconnect after ten minutes.
    const body = 'retry: 600000\nevent: closing\ndata: {"reconnect_after_ms":50}\n\n';
    await route.fulfill({ contentType: 'text/event-stream', body });
  });
  await cut.clock.install();
  await cut.goto('/');
  await bell(cut, 'Notifications').waitFor();
  await expect.poll(() => asked).toBeGreaterThan(1);
  await comment(otto, 'Is anybody there?');
  await bell(mara, 'Notifications, 1 unread').waitFor();
  expect(await bell(cut, 'Notifications').count()).toBe(1);
  await cut.clock.fastForward(61_000);
  await bell(cut, 'Notifications, 1 unread').waitFor();
  await call(mara, 'POST', '/account/notifications/read-all');
  await cut.context().close();
});

test('configures and tests a mail server and keeps its password', async () => {
  await call(mara, 'PATCH', '/admin/system/site', { base_url: studio.address });
  await visit(mara, '/admin/mail');
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

  // NOTICE-15: the page says what was refused, not what the server says.
  await mara.getByLabel('To').fill('someone@example.org');
  await mara.getByRole('button', { name: 'Send test message' }).click();
  await mara.getByRole('alert').filter({ hasText: 'refused the name or the password' }).waitFor();
  expect(mailbox.mails).toEqual([]);

  await mara.getByRole('button', { name: 'Change', exact: true }).click();
  await expect.poll(() => form.getByLabel('User name').inputValue()).toBe('post@example.org');
  await expect.poll(() => form.getByLabel('Password').inputValue()).toBe('');
  await setUp(mailPassword);
  await dialogClosed(mara, mara.getByRole('button', { name: 'Change', exact: true }));
  // Another sender keeps the password.
  await mara.getByLabel('Address', { exact: true }).fill('library@example.org');
  await mara.getByLabel('Name', { exact: true }).fill('The Library');
  await mara.getByRole('button', { name: 'Save sender' }).click();
  await mara.getByText('Saved', { exact: true }).waitFor();
  await mara.getByRole('button', { name: 'Send test message' }).click();
  await mara.getByRole('status').filter({ hasText: 'The mail server accepted the message.' }).waitFor();
  expect(mailbox.to('someone@example.org')).toHaveLength(1);
  expect(mailbox.mails.at(-1)?.from).toEqual({ address: 'library@example.org', name: 'The Library' });
});

test('saves notification choices; a mail links to the comment and to unsubscribing', async () => {
  await visit(otto, '/settings/notifications');
  await otto.getByText('Your account has no mail address yet').waitFor();
  await otto.getByRole('link', { name: 'Add one to your profile' }).click();
  await otto.getByLabel('E-mail').fill('otto@example.org');
  await otto.getByRole('button', { name: 'Save profile' }).click();
  await otto.getByText('Open the link in the mail to otto@example.org').waitFor();
  await expect.poll(() => mailbox.to('otto@example.org').length).toBe(1);
  await otto.goto(/\S+\/verify\/\S+/.exec(mailbox.to('otto@example.org')[0]?.text ?? '')?.[0] ?? '');
  await otto.getByRole('button', { name: 'Confirm my e-mail' }).click();
  await otto.getByText('Your e-mail is confirmed.').waitFor();

  await visit(otto, '/settings/notifications');
  await otto.getByText('It goes to otto@example.org.').waitFor();
  await otto.getByLabel('Comments on posts you watch: by mail').selectOption('now');
  await otto.getByText('Saved', { exact: true }).waitFor();
  await otto.getByLabel('Likes: in the library').click();
  await otto.getByLabel('How often').selectOption('week');
  await otto.getByLabel('Day', { exact: true }).selectOption('Friday');
  await otto.getByLabel('Hour').selectOption('17');
  const preferences = () => call(otto, 'GET', '/account/notification-preferences');
  await expect.poll(preferences).toMatchObject({
    kinds: { watched_comment: { in_app: true, mail: 'now' }, like: { in_app: false, mail: 'off' } },
    digest: { every: 'week', hour: 17, weekday: 5 },
  });

  mailbox.empty();
  const id = await comment(mara, 'The ferry is back');
  await expect.poll(() => mailbox.to('otto@example.org').length).toBe(1);
  const text = mailbox.to('otto@example.org')[0]?.text ?? '';
  const link = /\S+#comment-\S+/.exec(text)?.[0] ?? '';
  expect(link).toBe(`${studio.address}/posts/${postId}#comment-${id}`);

  // A signed-out user signs in first and then reaches the comment.
  const other = await studio.openPage();
  await other.goto(link);
  await other.waitForURL(/\/sign-in/);
  await offerPassword(other, 'otto');
  const comments = other.getByRole('article', { name: 'Comment by mara' });
  const entry = comments.filter({ hasText: 'The ferry is back' });
  await expect.poll(() => isFocused(entry)).toBe(true);

  // The page says that the comment no longer exists.
  await call(mara, 'DELETE', `/comments/${id}`);
  await other.reload();
  await other.getByText('The comment no longer exists.').waitFor();

  // The address in the mail turns mail off once its button is pressed, and the settings show it.
  await other.goto(/\S+\/mail\/unsubscribe\?token=\S+/.exec(text)?.[0] ?? '');
  expect(await preferences()).toMatchObject({ mail_enabled: true });
  await other.getByRole('button', { name: 'Turn mail off' }).click();
  await other.getByText('Mail is off.').waitFor();
  await otto.reload();
  const mail = otto.getByRole('switch', { name: 'Send me mail' });
  await expect.poll(() => mail.getAttribute('aria-checked')).toBe('false');
  await expect.poll(() => otto.getByLabel('Replies: by mail').isDisabled()).toBe(true);
  await mail.click();
  await expect.poll(preferences).toMatchObject({ mail_enabled: true });
});
