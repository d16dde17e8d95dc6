import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { comment, publisher, settle, unread } from '../notifications/telling.ts';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { type Mailbox, mailboxHere, openMailbox, smtpError } from './mailbox.ts';

let library: Library;
let mailbox: Mailbox;
let author: Account;
let other: Account;
let write: ReturnType<typeof publisher>;
let round = 0;
const address = (account: Account) =>
  `${createHash('md5').update(account.username).digest('hex')}@example.org`;

beforeAll(async () => {
  mailbox = await openMailbox();
  library = await openLibrary({
    VITRINE_SMTP_URL: mailbox.url,
    VITRINE_MAIL_FROM: 'library@example.org',
    VITRINE_BASE_URL: 'https://pictures.example.org',
  });
  return mailbox.close;
});

beforeEach(async () => {
  mailbox.empty();
  await useServer(mailbox);
  round += 1;
  author = await mailable(`author${round}`);
  other = await mailable(`other${round}`);
  write = publisher(author);
});

async function mailable(username: string): Promise<Account> {
  const account = await arrive(library, username);
  await account.ok('updateUser', { params: { ref: account.ref }, body: { email: address(account) } });
  return account;
}

/** Configures the library to send mail through this server. */
async function useServer({ url }: Mailbox): Promise<void> {
  const { hostname, port } = new URL(url);
  const server = {
    host: hostname,
    port: Number(port),
    secure: false,
    tls: 'off',
    user: null,
    password: null,
  } as const;
  library.deps.config.mail = { server, from: { address: 'library@example.org', name: null } };
}

const post = (body: Parameters<typeof write>[0] = {}) => write({ title: 'A tower', ...body });
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
    const jobs = async (happen: () => Promise<unknown>) => {
      // The mail job is enqueued and has not run.
      await sql`update graphile_worker._private_jobs set run_at = now() + interval '1 hour'`.execute(
        library.deps.db,
      );
      await happen();
      await hurry();
      await settle(library);
    };
    await comment(other, secret, `@${reader.username}`);
    const slow = await mailboxHere({ onConnect: (_, done) => done(smtpError(421, 'not now')) });
    await useServer(slow);
    await settle(library);
    expect(await mailJobs()).toEqual([1]);
    await useServer(mailbox);
    await jobs(() => author.ok('updatePost', { params: { id: secret.id }, body: { visibility: 'private' } }));
    expect(mailbox.to(address(reader))).toEqual([]);
    expect(await mailJobs()).toEqual([]);
  });

  test.each(['From: x\r\nBcc: evil@example.org', 'a\nb', '\u2028x\u0000y'.replace('\0', '')])(
    'puts nothing into the head that was not meant to be there: %j',
    async (title) => {
      const { id } = await post({ title });
      await author.ok('updateUser', {
        params: { ref: author.ref },
        body: { fullname: 'A\r\nBcc: evil@example.org' },
      });
      await comment(other, { id }, `@${author.username}`);
      await settle(library);
      expect(mailbox.recipients).toEqual([[address(author)]]);
      const head = mailbox.raw[0]?.split('\r\n\r\n')[0] ?? '';
      expect(head).not.toMatch(/^bcc:/im);
      expect(mailbox.mails[0]?.subject).toContain('mentioned you');
    },
  );

  // NOTICE-13
  test('is not sent to accounts that have no address, are disabled or pending, or turned mail off', async () => {
    const { id } = await post();
    const people = await Promise.all(
      ['none', 'disabled', 'pending', 'off', 'ok'].map((name) => mailable(`${name}${round}`)),
    );
    const { db } = library.deps;
    const [none, disabled, pending, off, ok] = people;
    if (!none || !disabled || !pending || !off || !ok) throw new Error('nobody');
    await comment(other, { id }, people.map(({ username }) => `@${username}`).join(' '));
    // After the notification, before the mail.
    const slow = await mailboxHere({ onConnect: (_, done) => done(smtpError(421, 'not now')) });
    await useServer(slow);
    await settle(library);
    await db.updateTable('users').set({ email: null }).where('ref', '=', none.ref).execute();
    await db.updateTable('users').set({ status: 'disabled' }).where('ref', '=', disabled.ref).execute();
    await db.updateTable('users').set({ status: 'pending' }).where('ref', '=', pending.ref).execute();
    await off.ok('updateNotificationPreferences', { body: { mail_enabled: false } });
    await useServer(mailbox);
    await hurry();
    await settle(library);
    expect(mailbox.recipients).toEqual([[address(ok)]]);
    mailbox.empty();
    await comment(other, { id }, people.map(({ username }) => `@${username}!`).join(' '));
    await settle(library);
    expect(mailbox.recipients).toEqual([[address(ok)]]);
  });

  test('is not sent for a notification that was read, or a kind that was turned off', async () => {
    const { id } = await post();
    const slow = await mailboxHere({ onConnect: (_, done) => done(smtpError(421, 'not now')) });
    await useServer(slow);
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    await author.ok('readAllNotifications');
    await useServer(mailbox);
    await hurry();
    await settle(library);
    expect(mailbox.mails).toEqual([]);
    await author.ok('updateNotificationPreferences', {
      body: { kinds: { mention: { in_app: true, mail: 'off' } } },
    });
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    expect(mailbox.mails).toEqual([]);
    expect(await unread(author)).toBe(1);
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
    await useServer(flaky);
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    for (let n = 0; n < 4; n += 1) {
      await settle(library);
      await hurry();
    }
    expect(calls).toBe(3);
    expect(flaky.mails).toHaveLength(1);
    expect(await mailJobs()).toEqual([]);
  });

  test('is sent once more with the same Message-ID if the connection breaks after the server accepted it', async () => {
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    const [row] = await library.deps.db
      .selectFrom('notifications')
      .selectAll()
      .where('post_id', '=', id)
      .execute();
    const again = async () => {
      await sql`select graphile_worker.add_job('mail-notification', json_build_object('id', ${row?.id}::text))`.execute(
        library.deps.db,
      );
      await settle(library);
    };
    await again();
    expect(mailbox.mails).toHaveLength(1);
    // The state after a kill between the reply of the server and recording it.
    await sql`update notifications set mailed_at = null where id = ${row?.id}`.execute(library.deps.db);
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
    await useServer(strict);
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    for (let n = 0; n < 3; n += 1) {
      await settle(library);
      await hurry();
    }
    expect([calls, await mailJobs()]).toEqual([1, []]);
  });

  test('is retried when the server refuses the credentials', async () => {
    const guarded = await mailboxHere({ onAuth: (_, __, done) => done(smtpError(535, 'who are you')) });
    const { hostname, port } = new URL(guarded.url);
    library.deps.config.mail = {
      server: { host: hostname, port: Number(port), secure: false, tls: 'off', user: 'u', password: 'p' },
      from: null,
    };
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    expect(await mailJobs()).toEqual([1]);
    await sql`delete from graphile_worker._private_jobs`.execute(library.deps.db);
  });
});

describe('without', () => {
  test('a mail server, no job stays pending or fails', async () => {
    library.deps.config.mail = { server: null, from: null };
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    expect(await mailJobs()).toEqual([]);
    expect(await unread(author)).toBe(1);
  });

  test('a public address, mails have no links and no unsubscribe address', async () => {
    const { baseUrl } = library.deps.config;
    library.deps.config.baseUrl = null;
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    library.deps.config.baseUrl = baseUrl;
    const [mail] = mailbox.mails;
    expect(mail?.html).not.toContain('href');
    expect(mail?.text).not.toContain('http');
    expect(mail?.headers.map(({ key }) => key)).not.toContain('list-unsubscribe');
  });
});

// NOTICE-14
describe('the unsubscribe address (RFC 8058)', () => {
  const unsubscribeUrl = async () => {
    const { id } = await post();
    await comment(other, { id }, `@${author.username}`);
    await settle(library);
    const headers = new Map(mailbox.mails[0]?.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const url = new URL(/^<(.*)>$/.exec(headers.get('list-unsubscribe') ?? '')?.[1] ?? '');
    expect(url.origin).toBe('https://pictures.example.org');
    return url.pathname + url.search;
  };
  const post1 = (path: string) =>
    fetch(library.address + path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
  const enabled = async (who: Account) => (await who.ok('getNotificationPreferences')).mail_enabled;

  // NOTICE-14
  test('turns mail off for a POST without signing in; GET changes nothing', async () => {
    const path = await unsubscribeUrl();
    const page = await fetch(library.address + path);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('<form method="post">');
    expect(await enabled(author)).toBe(true);
    expect((await post1(path)).status).toBe(200);
    expect((await post1(path)).status).toBe(200);
    expect([await enabled(author), await enabled(other)]).toEqual([false, true]);
  });

  test('accepts the multipart form that RFC 8058 recommends', async () => {
    const path = await unsubscribeUrl();
    const body = new FormData();
    body.append('List-Unsubscribe', 'One-Click');
    expect((await fetch(library.address + path, { method: 'POST', body })).status).toBe(200);
    expect(await enabled(author)).toBe(false);
  });

  // NOTICE-14
  test('returns 401 for a forged token', async () => {
    const path = await unsubscribeUrl();
    const token = new URLSearchParams(path.split('?')[1]).get('token') ?? '';
    const bent = [token.slice(0, -2), `${token.slice(0, -2)}AA`, 'x', String(author.ref)];
    for (const made of bent) {
      const answer = await post1(`/api/v1/mail/unsubscribe?token=${made}`);
      expect([made, answer.status]).toEqual([made, 401]);
    }
    expect((await post1('/api/v1/mail/unsubscribe')).status).toBe(401);
    expect(await enabled(author)).toBe(true);
  });
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
  await useServer(hanging);
  const { id } = await post();
  await comment(other, { id }, `@${author.username}`);
  const first = library.runJobs().catch(() => {});
  for (let n = 0; n < 50 && hanging.connections === 0; n += 1) await sleep(50);
  expect(hanging.connections).toBe(1);
  // Does what liveness does for a process whose lock is free.
  await sql`select graphile_worker.force_unlock_workers(array(
    select locked_by from graphile_worker.jobs where locked_by is not null))`.execute(library.deps.db);
  stuck = false;
  await settle(library);
  expect(hanging.mails).toHaveLength(1);
  await hanging.close();
  await first;
});
