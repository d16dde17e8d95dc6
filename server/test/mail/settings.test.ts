import { createServer } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { auditEvents } from '../support/audit.ts';
import { databaseText } from '../support/database-text.ts';
import { openLibrary } from '../support/library.ts';
import { listen } from '../support/listen.ts';
import { grant } from '../support/people.ts';
import { mailboxHere, openMailbox, smtpError } from './mailbox.ts';

const path = '/admin/system/mail';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mailbox = await openMailbox();
afterAll(mailbox.close);

beforeEach(async () => {
  await library.deps.db.deleteFrom('settings').where('key', '=', 'mail').execute();
  mailbox.empty();
});

const patch = (body: unknown) => root.send(path, { method: 'PATCH', body });
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
    const events = await auditEvents(library, { event: 'system.mail.changed' });
    expect(events).toMatchObject([{ actor_user_ref: root.ref, metadata: { host: 'mail.example.org' } }]);
    for (const text of [answer.text, await databaseText(library)]) expect(text).not.toMatch(/s3cr|w0rd/);
  });

  test('keeps its password when other settings change, and clears each setting alone', async () => {
    await patch({ smtp_url: withPassword, from_address: 'library@example.org' });
    await patch({ from_name: 'The Library', smtp_url: null });
    const kept = { from_name: 'The Library', has_password: true };
    const from_address = 'library@example.org';
    expect(await root.ok('getMailSettings')).toMatchObject({ ...kept, from_address });
    await patch({ clear_from_address: true });
    expect(await root.ok('getMailSettings')).toMatchObject({ ...kept, from_address: null });
    await patch({ clear_from_address: false, clear_from_name: true, from_address: 'again@example.org' });
    await patch({ clear_smtp_url: true });
    expect(await root.ok('getMailSettings')).toEqual({ ...nothing, from_address: 'again@example.org' });
  });

  test('returns whether and how the connection is encrypted', async () => {
    for (const [smtp_url, secure, tls] of [
      ['smtp://mail.example.org', false, 'offered'],
      ['smtp://mail.example.org?tls=required', false, 'required'],
      ['smtp://mail.example.org/?tls=off', false, 'off'],
      ['smtps://mail.example.org', true, 'offered'],
      ['smtps://mail.example.org?tls=unverified', true, 'unverified'],
    ] as const) {
      const shown = await root.ok('updateMailSettings', { body: { smtp_url } });
      expect([smtp_url, shown.secure, shown.tls]).toEqual([smtp_url, secure, tls]);
    }
  });

  test('refuses contradictions and malformed addresses with 400, and changes nothing', async () => {
    await patch({ smtp_url: withPassword });
    const before = await root.ok('getMailSettings');
    for (const body of [
      { from_address: 'a@b', clear_from_address: true },
      { from_name: 'A', clear_from_name: true },
      { smtp_url: 'smtp://mail.example.org', clear_smtp_url: true },
      { smtp_url: 'mail.example.org' },
      { smtp_url: 'https://mail.example.org' },
      { smtp_url: 'smtp://' },
      { smtp_url: 'smtp://mail.example.org/?sendmail=1' },
      { smtp_url: 'smtp://a:%ff@mail.example.org' },
      { smtp_url: 'smtp://a%0aQUIT:b@mail.example.org' },
      { from_address: 'nobody' },
      { from_address: 'a@b\r\nBcc: c@d' },
      { from_name: 'A\r\nBcc: c@d' },
    ])
      expect([body, (await patch(body)).status]).toEqual([body, 400]);
    expect(await root.ok('getMailSettings')).toEqual(before);
  });

  test('is overridden by the environment', async () => {
    const { config } = library.deps;
    const { mail } = config;
    const env = {
      VITRINE_SMTP_URL: 'smtps://post:word@mail.example.net',
      VITRINE_MAIL_FROM: 'The Library <library@example.net>',
    };
    config.mail = readConfig(env, config.dataDir).mail;
    onTestFinished(() => {
      config.mail = mail;
    });
    await patch({ smtp_url: 'smtp://other.example', from_name: 'Other' });
    expect(await root.ok('getMailSettings')).toEqual({
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
  test('is sent immediately', async () => {
    await patch({ smtp_url: mailbox.url, from_address: 'library@example.org', from_name: 'Lib "x" <y>, z' });
    const answer = await root.ok('sendTestMail', { body: { to: 'someone@example.org' } });
    expect(answer).toEqual({ accepted: true, message: 'the mail server accepted the message' });
    expect(mailbox.mails).toMatchObject([
      {
        from: { address: 'library@example.org', name: 'Lib "x" <y>, z' },
        to: [{ address: 'someone@example.org' }],
        subject: 'A test message from Vitrine',
      },
    ]);
    const events = await auditEvents(library, { event: 'system.mail.tested' });
    expect(events).toMatchObject([{ metadata: { email: 'someone@example.org', accepted: true } }]);
    // USER-8
    const auditor = await library.join('auditor');
    await grant(library, auditor, 'system.audit.read');
    const seen = await auditor.ok('listAudit', { query: { event: 'system.mail.tested' } });
    expect(seen.items.map(({ metadata }) => metadata)).toEqual([
      { accepted: true, outcome: 'accepted', code: null },
    ]);
  });

  // NOTICE-15
  test('that is not sent returns 409 with the reason, and never shows what the server says', async () => {
    const secret = 'banner-1.2.3';
    const refusing = (options: SMTPServerOptions) => mailboxHere({ banner: secret, ...options });
    const strict = await refusing({ onRcptTo: (_, __, done) => done(smtpError(550, secret)) });
    const closed = await refusing({ onMailFrom: (_, __, done) => done(smtpError(451, secret)) });
    const picky = await refusing({ onData: (_, __, done) => done(smtpError(554, secret)) });
    const busy = await refusing({ onConnect: (_, done) => done(smtpError(421, secret)) });
    const guarded = await refusing({
      onAuth: ({ password }, _, done) =>
        password === 'right' ? done(null, { user: 'post' }) : done(smtpError(535, secret)),
    });
    const gone = await openMailbox();
    await gone.close();
    const other = createServer((socket) => socket.on('error', () => {}).end(`SSH-2.0-${secret}\r\n`));
    const foreign = `127.0.0.1:${await listen(other)}`;
    onTestFinished(() => void other.close());
    const refused = 'the mail server refused the';
    const unreachable = 'no mail server answers at its address';
    const plain = 'the connection to the mail server could not be encrypted';
    const cases = [
      [strict.url, 'recipient_refused', 550, `${refused} recipient (code 550)`],
      [closed.url, 'sender_refused', 451, `${refused} sender (code 451)`],
      [picky.url, 'message_refused', 554, `${refused} message (code 554)`],
      [busy.url, 'connection_refused', 421, `${refused} connection (code 421)`],
      [
        guarded.url.replace('//', '//post:wrong@'),
        'sign_in_refused',
        535,
        `${refused} name or the password (code 535)`,
      ],
      [gone.url, 'unreachable', null, unreachable],
      [`smtp://${foreign}`, 'unreachable', null, unreachable],
      [`smtps://${foreign}`, 'not_encrypted', null, plain],
      [`${mailbox.url}?tls=required`, 'not_encrypted', 500, `${plain} (code 500)`],
    ] as const;
    const test = { body: { to: 'a@example.org' } };
    for (const [smtp_url, outcome, code, reason] of cases) {
      await patch({ smtp_url });
      const error = `the message was not sent: ${reason}`;
      expect([smtp_url, await root.refused('sendTestMail', test)]).toEqual([
        smtp_url,
        { status: 409, error },
      ]);
      const event = (await auditEvents(library, { event: 'system.mail.tested' })).at(-1);
      expect(event?.metadata).toEqual({ email: 'a@example.org', accepted: false, outcome, code });
    }
    // LANGUAGE-8: pages show the reason in the language of the reader.
    const german = { method: 'POST', headers: { 'accept-language': 'de' }, ...test };
    await patch({ smtp_url: gone.url });
    expect((await root.send('/admin/system/mail/test', german)).text).toContain(
      'unter der Adresse antwortet kein Mailserver',
    );
    expect(mailbox.mails).toEqual([]);
    expect(await databaseText(library)).not.toContain(secret);
    await patch({ smtp_url: guarded.url.replace('//', '//post:right@') });
    await root.ok('sendTestMail', test);
    expect(guarded.recipients).toEqual([['a@example.org']]);
  });

  // NOTICE-15
  test('of an earlier version is listed without what the server said', async () => {
    await library.deps.db
      .insertInto('audit_events')
      .values({
        event: 'system.mail.tested',
        metadata: JSON.stringify({ accepted: false, answer: 'SSH-2.0' }),
      })
      .execute();
    const { items } = await root.ok('listAudit', { query: { event: 'system.mail.tested', limit: 1 } });
    expect(items.map(({ metadata }) => metadata)).toEqual([{ accepted: false }]);
  });

  test('is refused to what is not one address', async () => {
    await patch({ smtp_url: mailbox.url });
    for (const to of ['nobody', 'a@b, c@d', 'a@b\r\nBcc: c@d', '<a@b>', ''])
      expect([to, await root.status('POST', `${path}/test`, { to })]).toEqual([to, 400]);
    expect(mailbox.mails).toEqual([]);
  });

  // RATE-8
  test('is limited to ten per hour', async () => {
    const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on' });
    const admin = await limited.join('root', 'admin');
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1)
      statuses.push((await admin.refused('sendTestMail', { body: { to: 'a@example.org' } })).status);
    expect(statuses).toEqual([...Array(10).fill(409), 429]);
  });
});
