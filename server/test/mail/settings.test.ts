import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { actAs, arrive, bearer, grant } from '../posts/people.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { type Mailbox, mailboxHere, openMailbox, smtpError } from './mailbox.ts';

let library: Library;
let root: Account;
let mailbox: Mailbox;
const path = '/admin/system/mail';

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  mailbox = await openMailbox();
  return mailbox.close;
});

beforeEach(async () => {
  await library.deps.db.deleteFrom('settings').where('key', '=', 'mail').execute();
  mailbox.empty();
});

const patch = (body: unknown, who: Account = root) => who.send(path, { method: 'PATCH', body });
const withPassword = 'smtp://post%40example.org:s3cr%23t-w0rd@mail.example.org:2525';
const nothing = {
  source: null,
  host: null,
  port: null,
  secure: false,
  tls: null,
  user: null,
  has_password: false,
  from_address: null,
  from_name: null,
};

describe('the mail server', () => {
  test('is not configured at first', async () => {
    expect(await root.ok('getMailSettings')).toEqual(nothing);
    expect(await root.refused('sendTestMail', { body: { to: 'a@example.org' } })).toEqual({
      status: 409,
      error: 'no mail server is set up',
    });
  });

  // NOTICE-15
  test('is stored, and its password is never returned', async () => {
    const answer = await patch({ smtp_url: withPassword, from_address: 'library@example.org' });
    expect(JSON.parse(answer.text)).toEqual({
      ...nothing,
      source: 'library',
      host: 'mail.example.org',
      port: 2525,
      tls: 'offered',
      user: 'post@example.org',
      has_password: true,
      from_address: 'library@example.org',
    });
    const { db } = library.deps;
    const stored = await db
      .selectFrom('settings')
      .select('value')
      .where('key', '=', 'mail')
      .executeTakeFirst();
    const events = await db
      .selectFrom('audit_events')
      .selectAll()
      .where('event', '=', 'system.mail.changed')
      .execute();
    expect(events).toMatchObject([{ actor_user_ref: root.ref, metadata: { host: 'mail.example.org' } }]);
    for (const text of [answer.text, JSON.stringify(stored), JSON.stringify(events)])
      expect(text).not.toMatch(/s3cr|w0rd/);
  });

  test('keeps its password when other settings change, and removes it with the server', async () => {
    await patch({ smtp_url: withPassword });
    await patch({ from_name: 'The Library', smtp_url: null });
    expect(await root.ok('getMailSettings')).toMatchObject({ has_password: true, from_name: 'The Library' });
    await patch({ clear_smtp_url: true });
    expect(await root.ok('getMailSettings')).toEqual({ ...nothing, from_name: 'The Library' });
  });

  test.each([
    ['smtp://mail.example.org', false, 'offered'],
    ['smtp://mail.example.org?tls=required', false, 'required'],
    ['smtp://mail.example.org/?tls=off', false, 'off'],
    ['smtp://mail.example.org?tls=unverified', false, 'unverified'],
    ['smtps://mail.example.org', true, 'offered'],
    ['smtps://mail.example.org?tls=unverified', true, 'unverified'],
  ])('returns whether and how %s is encrypted', async (smtp_url, secure, tls) => {
    await patch({ smtp_url });
    expect(await root.ok('getMailSettings')).toMatchObject({ secure, tls });
  });

  test('clears sender address and name independently, and keeps the server', async () => {
    await patch({ smtp_url: withPassword, from_address: 'library@example.org', from_name: 'The Library' });
    const cleared = await root.ok('updateMailSettings', { body: { clear_from_address: true } });
    expect(cleared).toMatchObject({ from_address: null, from_name: 'The Library', has_password: true });
    await patch({ clear_from_address: false, clear_from_name: true, from_address: 'again@example.org' });
    expect(await root.ok('getMailSettings')).toMatchObject({
      from_address: 'again@example.org',
      from_name: null,
      has_password: true,
    });
  });

  test.each([
    [{ from_address: 'a@b', clear_from_address: true }],
    [{ from_name: 'A', clear_from_name: true }],
    [{ clear_from_address: 'yes' }],
    [{ smtp_url: 'mail.example.org' }],
    [{ smtp_url: 'https://mail.example.org' }],
    [{ smtp_url: 'smtp://' }],
    [{ smtp_url: 'smtp://mail.example.org/?sendmail=1' }],
    [{ smtp_url: 'smtp://a:%ff@mail.example.org' }],
    [{ smtp_url: 'smtp://a%0aQUIT:b@mail.example.org' }],
    [{ smtp_url: 'smtp://mail.example.org', clear_smtp_url: true }],
    [{ from_address: 'nobody' }],
    [{ from_address: 'a@b\r\nBcc: c@d' }],
    [{ from_name: 'A\r\nBcc: c@d' }],
    [{ password: 'x' }],
  ])('%j is 400 and changes nothing', async (body) => {
    await patch({ smtp_url: withPassword });
    const before = await root.ok('getMailSettings');
    expect((await patch(body)).status).toBe(400);
    expect(await root.ok('getMailSettings')).toEqual(before);
  });

  test('is overridden by the environment', async () => {
    const own = await openLibrary({
      VITRINE_SMTP_URL: 'smtps://post:word@mail.example.net',
      VITRINE_MAIL_FROM: 'The Library <library@example.net>',
    });
    const admin = await arrive(own, 'root', 'admin');
    await admin.ok('updateMailSettings', { body: { smtp_url: 'smtp://other.example', from_name: 'Other' } });
    expect(await admin.ok('getMailSettings')).toEqual({
      source: 'environment',
      host: 'mail.example.net',
      port: 465,
      secure: true,
      tls: 'offered',
      user: 'post',
      has_password: true,
      from_address: 'library@example.net',
      from_name: 'The Library',
    });
  });
});

describe('a test message', () => {
  test('is sent immediately and returns the reply of the server', async () => {
    await patch({ smtp_url: mailbox.url, from_address: 'library@example.org', from_name: 'Lib "x" <y>, z' });
    const answer = await root.ok('sendTestMail', { body: { to: 'someone@example.org' } });
    expect(answer.accepted).toBe(true);
    expect(answer.message).toContain('kept as 42');
    expect(mailbox.mails).toMatchObject([
      {
        from: { address: 'library@example.org', name: 'Lib "x" <y>, z' },
        to: [{ address: 'someone@example.org' }],
        subject: 'A test message from Vitrine',
      },
    ]);
    const { db } = library.deps;
    const events = await db
      .selectFrom('audit_events')
      .selectAll()
      .where('event', '=', 'system.mail.tested')
      .execute();
    expect(events).toMatchObject([{ metadata: { to: 'someone@example.org', accepted: true } }]);
  });

  // NOTICE-15
  test('returns 409 with the reply of a server that refuses it', async () => {
    const strict = await mailboxHere({
      onRcptTo: (_, __, done) => done(smtpError(550, 'no such person here')),
    });
    await patch({ smtp_url: strict.url });
    const { status, error } = await root.refused('sendTestMail', { body: { to: 'someone@example.org' } });
    expect(status).toBe(409);
    expect(error).toContain('550');
    expect(error).toContain('no such person here');
  });

  test('returns 409 if the server cannot be reached or refuses the password', async () => {
    const gone = await openMailbox();
    await gone.close();
    await patch({ smtp_url: gone.url });
    expect((await root.refused('sendTestMail', { body: { to: 'a@example.org' } })).error).toContain(
      'ECONNREFUSED',
    );
    const guarded = await mailboxHere({
      onAuth: ({ password }, _, done) =>
        password === 'right' ? done(null, { user: 'post' }) : done(smtpError(535, 'go away')),
    });
    await patch({ smtp_url: guarded.url.replace('//', '//post:wrong@') });
    expect((await root.refused('sendTestMail', { body: { to: 'a@example.org' } })).error).toContain(
      'go away',
    );
    await patch({ smtp_url: guarded.url.replace('//', '//post:right@') });
    await root.ok('sendTestMail', { body: { to: 'a@example.org' } });
    expect(guarded.recipients).toEqual([['a@example.org']]);
  });

  test('is not sent in plain text if encryption is required', async () => {
    await patch({ smtp_url: `${mailbox.url}?tls=required` });
    expect((await root.refused('sendTestMail', { body: { to: 'a@example.org' } })).status).toBe(409);
    expect(mailbox.mails).toEqual([]);
  });

  test.each([['nobody'], ['a@b, c@d'], ['a@b\r\nBcc: c@d'], ['<a@b>'], [''], [['a@b']]])(
    'to %j is 400',
    async (to) => {
      await patch({ smtp_url: mailbox.url });
      expect((await root.send(`${path}/test`, { method: 'POST', body: { to } })).status).toBe(400);
      expect(mailbox.mails).toEqual([]);
    },
  );

  // RATE-8
  test('is limited to ten per hour', async () => {
    const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on' });
    const admin = await arrive(limited, 'root', 'admin');
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1)
      statuses.push((await admin.refused('sendTestMail', { body: { to: 'a@example.org' } })).status);
    expect(statuses).toEqual([...Array(10).fill(409), 429]);
  });
});

// NOTICE-15
test('only operators read and write the settings', async () => {
  const stranger = await arrive(library, 'stranger');
  const reader = await arrive(library, 'reader');
  await grant(library, reader, 'system.config.read');
  const writer = await arrive(library, 'writer');
  await grant(library, writer, 'system.config.write');
  const test = { body: { to: 'a@example.org' } };
  const change = { body: { from_name: 'X' } };
  const statusesOf = async (who: { send: Account['send'] }) => [
    (await who.send(path)).status,
    (await who.send(path, { method: 'PATCH', ...change })).status,
    (await who.send(`${path}/test`, { method: 'POST', ...test })).status,
  ];
  expect(await statusesOf(library.anonymous())).toEqual([401, 401, 401]);
  expect(await statusesOf(stranger)).toEqual([403, 403, 403]);
  expect(await statusesOf(reader)).toEqual([200, 403, 403]);
  expect(await statusesOf(writer)).toEqual([403, 200, 409]);
  expect(await statusesOf(root)).toEqual([200, 200, 409]);
  expect(await statusesOf(await bearer(library, root, ['read']))).toEqual([200, 403, 403]);
  expect(await statusesOf(await bearer(library, root, ['admin']))).toEqual([200, 200, 409]);
  expect(await statusesOf(await actAs(library, root, writer))).toEqual([403, 200, 409]);
});
