import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { comment, publisher, settle, unread } from '../notifications/telling.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { setEmail, setStatus } from '../support/people.ts';
import { type Mailbox, mailboxHere, openMailbox, smtpError } from './mailbox.ts';

let author: Account;
let other: Account;
let write: ReturnType<typeof publisher>;
let round = 0;
const address = (account: Account) =>
  `${createHash('md5').update(account.username).digest('hex')}@example.org`;

const mailbox = await openMailbox();
const library = await openLibrary({
  VITRINE_SMTP_URL: mailbox.url,
  VITRINE_MAIL_FROM: 'library@example.org',
  VITRINE_BASE_URL: 'https://pictures.example.org',
});
afterAll(mailbox.close);

beforeEach(async () => {
  mailbox.empty();
  useServer(mailbox);
  round += 1;
  author = await mailable(`author${round}`);
  other = await mailable(`other${round}`);
  write = publisher(author);
});

async function mailable(username: string): Promise<Account> {
  const account = await library.join(username);
  await setEmail(library, account, address(account));
  return account;
}

/** Configures the library to send mail through this server. */
function useServer({ url }: Mailbox, account: { user: string; password: string } | null = null): void {
  const { hostname: host, port } = new URL(url);
  const { user = null, password = null } = account ?? {};
  const server = { host, port: Number(port), secure: false, tls: 'off', user, password } as const;
  library.deps.config.mail = { server, from: { address: 'library@example.org', name: null } };
}

/** Uses a server that accepts no mail at present. */
const useBusyServer = async () =>
  useServer(await mailboxHere({ onConnect: (_, done) => done(smtpError(421, 'not now')) }));

const post = (body: Parameters<typeof write>[0] = {}) => write({ title: 'A tower', ...body });
/** Comments on a post and mentions the author. */
const mention = async () => comment(other, await post(), `@${author.username}`);
/** Makes jobs that wait for a retry due now. */
const hurry = () =>
  sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`.execute(
    library.deps.db,
  );
const mailJobs = async () => {
  const { rows } = await sql<{ attempts: number }>`select attempts from graphile_worker.jobs
    where task_identifier = 'mail-notification'`.execute(library.deps.db);
  return rows.map(({ attempts }) => attempts);
};
const mailErrors = async () => {
  const { rows } = await sql<{ last_error: string | null }>`select last_error from graphile_worker.jobs
    where task_identifier = 'mail-notification'`.execute(library.deps.db);
  return rows.map(({ last_error }) => last_error);
};

// NOTICE-3
test('each like is mailed to those who are not shown likes in the app', async () => {
  await author.ok('updateNotificationPreferences', {
    body: { kinds: { like: { in_app: false, mail: 'now' } } },
  });
  const { id } = await post();
  for (const reader of [other, await library.join(`reader${round}`)]) {
    await reader.ok('likePost', { params: { id } });
    await settle(library);
  }
  expect(mailbox.mails).toHaveLength(2);
});

describe('a mention by mail', () => {
  test('names the author and the post, quotes the comment and links to it', async () => {
    const { id } = await post();
    const { id: commentId } = await comment(other, { id }, `@${author.username} <b>how</b> & "why"?`);
    await settle(library);
    const [mail, ...more] = mailbox.mails;
    expect(more).toEqual([]);
    expect(mailbox.recipients).toEqual([[address(author)]]);
    expect(mail).toMatchObject({
      from: { address: 'library@example.org', name: 'Vitrine' },
      to: [{ address: address(author) }],
      subject: `${other.username} mentioned you in “A tower”`,
    });
    const link = `https://pictures.example.org/posts/${id}#comment-${commentId}`;
    expect(mail?.text).toContain(`> @${author.username} <b>how</b> & "why"?`);
    expect(mail?.text).toContain(link);
    expect(mail?.html).toContain(`href="${link}"`);
    expect(mail?.html).toContain('&lt;b&gt;how&lt;/b&gt; &amp; &quot;why&quot;?');
    expect(mail?.html).not.toContain('<b>');
    expect(mail?.messageId).toMatch(/^<notification\.[0-9a-f-]{36}@pictures\.example\.org>$/);
  });

  test('is rendered with the rights of the recipient at the time of sending', async () => {
    const secret = await post({ title: 'Secret' });
    const reader = await mailable(`reader${round}`);
    await comment(other, secret, `@${reader.username}`);
    await useBusyServer();
    await settle(library);
    expect(await mailJobs()).toEqual([1]);
    useServer(mailbox);
    await author.ok('updatePost', { params: { id: secret.id }, body: { visibility: 'private' } });
    await hurry();
    await settle(library);
    expect(mailbox.to(address(reader))).toEqual([]);
    expect(await mailJobs()).toEqual([]);
  });

  test('puts nothing into the head that was not meant to be there', async () => {
    const body = { fullname: 'A\r\nBcc: evil@example.org' };
    await author.ok('updateUser', { params: { ref: author.ref }, body });
    for (const title of ['From: x\r\nBcc: evil@example.org', 'a\nb', '\u2028xy'])
      await comment(other, await post({ title }), `@${author.username}`);
    await settle(library);
    expect(mailbox.recipients).toEqual(Array(3).fill([address(author)]));
    for (const raw of mailbox.raw) expect(raw.split('\r\n\r\n')[0]).not.toMatch(/^bcc:/im);
    for (const { subject } of mailbox.mails) expect(subject).toContain('mentioned you');
  });

  // NOTICE-13
  test('is not sent once it was read, or to accounts without an address, that are inactive or turned mail off', async () => {
    const { id } = await post();
    const names = ['none', 'disabled', 'pending', 'off', 'unkind', 'read', 'ok'];
    const [none, disabled, pending, off, unkind, read, ok] = await Promise.all(
      names.map((name) => mailable(`${name}${round}`)),
    );
    if (!none || !disabled || !pending || !off || !unkind || !read || !ok) throw new Error('nobody');
    const everyone = names.map((name) => `@${name}${round}`).join(' ');
    // After the notification, before the mail.
    await useBusyServer();
    await comment(other, { id }, everyone);
    await settle(library);
    await library.deps.db.updateTable('users').set({ email: null }).where('ref', '=', none.ref).execute();
    await setStatus(library, disabled, 'disabled');
    await setStatus(library, pending, 'pending');
    await off.ok('updateNotificationPreferences', { body: { mail_enabled: false } });
    const mention = { in_app: true, mail: 'off' } as const;
    await unkind.ok('updateNotificationPreferences', { body: { kinds: { mention } } });
    await read.ok('readAllNotifications');
    useServer(mailbox);
    await hurry();
    await settle(library);
    expect(mailbox.recipients.flat().sort()).toEqual([address(ok)].sort());
    mailbox.empty();
    await comment(other, { id }, `${everyone}!`);
    await settle(library);
    expect(mailbox.recipients.flat().sort()).toEqual([address(ok), address(read)].sort());
    expect(await unread(unkind)).toBe(2);
  });
});

// NOTICE-12
describe('a mail that cannot be delivered', () => {
  // NOTICE-12
  test('is retried with the same Message-ID while the server is down', async () => {
    let calls = 0;
    const flaky = await mailboxHere({
      onMailFrom: (_, __, done) => {
        calls += 1;
        done(calls < 3 ? smtpError(451, 'try again later') : null);
      },
    });
    useServer(flaky);
    await mention();
    const errors: (string | null)[] = [];
    for (let n = 0; n < 4; n += 1) {
      await settle(library);
      errors.push(...(await mailErrors()));
      await hurry();
    }
    // NOTICE-15
    expect(errors).toEqual(Array(2).fill('the mail server refused the sender (code 451)'));
    expect(calls).toBe(3);
    expect(flaky.mails).toHaveLength(1);
    expect(await mailJobs()).toEqual([]);
  });

  test('is sent once more with the same Message-ID if the connection breaks after the server accepted it', async () => {
    await mention();
    await settle(library);
    const { db } = library.deps;
    const again = async () => {
      await sql`select graphile_worker.add_job('mail-notification', json_build_object('id', id))
        from notifications where user_ref = ${author.ref}`.execute(db);
      await settle(library);
    };
    await again();
    expect(mailbox.mails).toHaveLength(1);
    // The state after a kill between the reply of the server and recording it.
    await sql`update notifications set mailed_at = null where user_ref = ${author.ref}`.execute(db);
    await again();
    expect(mailbox.mails).toHaveLength(2);
    expect(new Set(mailbox.mails.map(({ messageId }) => messageId)).size).toBe(1);
  });

  // NOTICE-12
  test('is not retried after a permanent refusal', async () => {
    let calls = 0;
    const strict = await mailboxHere({
      onRcptTo: (_, __, done) => {
        calls += 1;
        done(smtpError(550, 'no such person'));
      },
    });
    useServer(strict);
    await mention();
    for (let n = 0; n < 2; n += 1) {
      await settle(library);
      await hurry();
    }
    expect([calls, await mailJobs()]).toEqual([1, []]);
  });

  test('is retried when the server refuses the credentials', async () => {
    const guarded = await mailboxHere({ onAuth: (_, __, done) => done(smtpError(535, 'who are you')) });
    useServer(guarded, { user: 'u', password: 'p' });
    await mention();
    await settle(library);
    expect(await mailJobs()).toEqual([1]);
    await sql`delete from graphile_worker._private_jobs`.execute(library.deps.db);
  });
});

describe('without', () => {
  test('a mail server, no job stays pending or fails', async () => {
    library.deps.config.mail = { server: null, from: null };
    await mention();
    await settle(library);
    expect(await mailJobs()).toEqual([]);
    expect(await unread(author)).toBe(1);
  });

  test('a public address, mails have no links and no unsubscribe address', async () => {
    const { baseUrl } = library.deps.config;
    library.deps.config.baseUrl = null;
    await mention();
    await settle(library);
    library.deps.config.baseUrl = baseUrl;
    const [mail] = mailbox.mails;
    expect(mail?.html).not.toContain('href');
    expect(mail?.text).not.toContain('http');
    expect(mail?.headers.map(({ key }) => key)).not.toContain('list-unsubscribe');
  });
});

// NOTICE-14
test('the unsubscribe address turns mail off for a POST without signing in; a GET or a forged token changes nothing', async () => {
  await mention();
  await settle(library);
  const headers = new Map(mailbox.mails[0]?.headers.map(({ key, value }) => [key, value]));
  // RFC 8058
  expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  const url = new URL(/^<(.*)>$/.exec(headers.get('list-unsubscribe') ?? '')?.[1] ?? '');
  expect(url.origin).toBe('https://pictures.example.org');
  const path = url.pathname + url.search;
  const send = async (to: string, init: RequestInit) =>
    (await fetch(library.address + to, { method: 'POST', ...init })).status;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = { headers: type, body: 'List-Unsubscribe=One-Click' };
  const enabled = async (who: Account) => (await who.ok('getNotificationPreferences')).mail_enabled;

  const page = await fetch(library.address + path);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('<form method="post">');
  const token = url.searchParams.get('token') ?? '';
  for (const made of [token.slice(0, -2), `${token.slice(0, -2)}AA`, 'x', String(author.ref), null]) {
    const query = made === null ? '' : `?token=${made}`;
    expect([made, await send(`/api/v1/mail/unsubscribe${query}`, form)]).toEqual([made, 401]);
  }
  expect(await enabled(author)).toBe(true);
  expect([await send(path, form), await send(path, form)]).toEqual([200, 200]);
  expect([await enabled(author), await enabled(other)]).toEqual([false, true]);
  // RFC 8058 recommends this form.
  await author.ok('updateNotificationPreferences', { body: { mail_enabled: true } });
  const body = new FormData();
  body.append('List-Unsubscribe', 'One-Click');
  expect([await send(path, { body }), await enabled(author)]).toEqual([200, false]);
});

// NOTICE-16
test('the next worker sends the mail of a worker that was killed', async () => {
  // The server accepts the message without confirming it before the worker is killed.
  let stuck = true;
  const hanging = await mailboxHere({
    onMailFrom: (_, __, done) => {
      if (!stuck) done();
    },
  });
  useServer(hanging);
  await mention();
  const first = library.runJobs().catch(() => {});
  await expect.poll(() => hanging.connections).toBe(1);
  // Does what liveness does for a process whose lock is free.
  await sql`select graphile_worker.force_unlock_workers(array(
    select locked_by from graphile_worker.jobs where locked_by is not null))`.execute(library.deps.db);
  stuck = false;
  await settle(library);
  expect(hanging.mails).toHaveLength(1);
  await hanging.close();
  await first;
});
