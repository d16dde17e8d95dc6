import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queueDigests } from '../../src/notifications/jobs/mail.ts';
import { comment, publisher, settle } from '../notifications/telling.ts';
import { arrive } from '../posts/people.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';

let library: Library;
let mailbox: Mailbox;
let author: Account;
let other: Account;
let write: ReturnType<typeof publisher>;
let round = 0;

beforeAll(async () => {
  mailbox = await openMailbox();
  library = await openLibrary({
    VITRINE_SMTP_URL: mailbox.url,
    VITRINE_BASE_URL: 'https://pictures.example.org',
  });
  return mailbox.close;
});

beforeEach(async () => {
  mailbox.empty();
  round += 1;
  author = await arrive(library, `author${round}`);
  await author.ok('updateUser', {
    params: { ref: author.ref },
    body: { email: `author${round}@example.org` },
  });
  other = await arrive(library, `other${round}`);
  write = publisher(author);
});

/** Sets the time of the notifications that have not been mailed. */
async function happenedAt(moment: string): Promise<void> {
  await settle(library);
  await sql`update notifications set created_at = ${moment}, happened_at = ${moment}
    where user_ref = ${author.ref} and mailed_at is null`.execute(library.deps.db);
}

/** Runs the hourly job at this time. */
async function tick(moment: string): Promise<number> {
  const before = mailbox.mails.length;
  await queueDigests(library.deps.db, new Date(moment));
  await settle(library);
  return mailbox.mails.length - before;
}

describe('a digest', () => {
  // NOTICE-11
  test('is sent once at the hour that the account chose', async () => {
    const post = await write({ title: 'A tower' });
    await comment(other, post, 'tall');
    await comment(other, post, 'taller');
    await happenedAt('2026-11-17T10:00:00Z');
    expect(await tick('2026-11-17T11:00:01Z')).toBe(0);
    expect(await tick('2026-11-18T07:00:01Z')).toBe(0);
    expect(await tick('2026-11-18T08:00:01Z')).toBe(1);
    expect(await tick('2026-11-18T08:00:02Z')).toBe(0);
    expect(await tick('2026-11-19T08:00:01Z')).toBe(0);
    const [mail] = mailbox.mails;
    expect(mail?.subject).toBe('Vitrine: 2 things happened');
    expect(mail?.text).toContain('> tall');
    expect(mail?.text).toContain(`https://pictures.example.org/posts/${post.id}`);
    expect(mail?.messageId).toBe(
      `<digest.${author.ref}.${Date.parse('2026-11-18T08:00:00Z')}@pictures.example.org>`,
    );
  });

  // NOTICE-11
  test('includes later notifications in the next digest', async () => {
    const post = await write();
    await comment(other, post, 'early');
    await happenedAt('2026-11-18T07:59:00Z');
    expect(await tick('2026-11-18T08:00:01Z')).toBe(1);
    await comment(other, post, 'late');
    await happenedAt('2026-11-18T08:30:00Z');
    expect(await tick('2026-11-18T09:00:01Z')).toBe(0);
    expect(await tick('2026-11-19T08:00:01Z')).toBe(1);
    expect(mailbox.mails[1]?.text).toContain('> late');
    expect(mailbox.mails[1]?.text).not.toContain('> early');
  });

  test('is sent weekly on the chosen day', async () => {
    await author.ok('updateNotificationPreferences', {
      body: { digest: { every: 'week', hour: 18, weekday: 5 } },
    });
    await comment(other, await write(), 'word');
    await happenedAt('2026-11-17T10:00:00Z');
    const days = ['18', '19', '20', '21'].flatMap((day) => [
      `2026-11-${day}T08:00:00Z`,
      `2026-11-${day}T18:00:00Z`,
    ]);
    const sent: number[] = [];
    for (const moment of days) sent.push(await tick(moment));
    // 20 November 2026 is a Friday.
    expect(sent).toEqual([0, 0, 0, 0, 0, 1, 0, 0]);
  });

  /** Returns the UTC hours at which a digest is sent if an event occurs fifty minutes before each. */
  async function comesAt(time_zone: string, hour: number, from: string, hours: number): Promise<number[]> {
    await author.ok('updateNotificationPreferences', {
      body: { digest: { every: 'day', hour, weekday: 1, time_zone } },
    });
    const post = await write();
    const found: number[] = [];
    for (let n = 0; n < hours; n += 1) {
      const moment = Date.parse(from) + n * 3_600_000;
      await comment(other, post, 'word');
      await happenedAt(new Date(moment - 3_000_000).toISOString());
      if ((await tick(new Date(moment).toISOString())) > 0) found.push(n);
    }
    return found;
  }

  // NOTICE-11
  test('is sent at the local hour of the account, in summer and winter', async () => {
    // Berlin left summer time on 25 October 2026: 7:00 was 5:00 UTC before, and 6:00 UTC after.
    expect(await comesAt('Europe/Berlin', 7, '2026-10-24T04:00:00Z', 3)).toEqual([1]);
    expect(await comesAt('Europe/Berlin', 7, '2026-10-26T04:00:00Z', 3)).toEqual([2]);
  });

  test('is sent on the local day of the account; zones with half hours get it at the next full hour', async () => {
    // 9:00 in Kathmandu is 03:15 UTC.
    expect(await comesAt('Asia/Kathmandu', 9, '2026-11-18T02:00:00Z', 4)).toEqual([2]);
    await author.ok('updateNotificationPreferences', {
      body: { digest: { every: 'week', hour: 8, weekday: 1, time_zone: 'Pacific/Auckland' } },
    });
    await comment(other, await write(), 'word');
    await happenedAt('2026-11-21T10:00:00Z');
    // Monday the 23rd, 8:00 there, is Sunday evening in UTC.
    expect(await tick('2026-11-22T18:00:00Z')).toBe(0);
    expect(await tick('2026-11-22T19:00:00Z')).toBe(1);
  });

  test('uses UTC if the database no longer knows the time zone, without delaying other digests', async () => {
    const post = await write();
    await comment(other, post, 'word');
    await author.ok('updateNotificationPreferences', {
      body: { digest: { every: 'day', hour: 8, weekday: 1, time_zone: 'Asia/Tokyo' } },
    });
    await sql`update notification_preferences set digest_zone = 'Lost/Atlantis' where user_ref = ${author.ref}`.execute(
      library.deps.db,
    );
    await happenedAt('2026-11-17T10:00:00Z');
    expect(await tick('2026-11-18T07:00:00Z')).toBe(0);
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
  });

  // NOTICE-11
  test('is sent later if no worker ran at its hour', async () => {
    await comment(other, await write(), 'word');
    await happenedAt('2026-11-17T10:00:00Z');
    expect(await tick('2026-11-18T13:00:00Z')).toBe(1);
  });

  // NOTICE-11
  test('is not sent if everything in it was read, hidden, deleted or turned off', async () => {
    const [read, hidden, deleted, off] = await Promise.all([write(), write(), write(), write()]);
    if (!read || !hidden || !deleted || !off) throw new Error('no posts');
    await author.ok('watchPost', { params: { id: hidden.id } });
    await comment(other, read, 'word');
    await happenedAt('2026-11-17T10:00:00Z');
    await author.ok('readAllNotifications');
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
    const { id } = await comment(other, deleted, 'word');
    await happenedAt('2026-11-17T10:00:00Z');
    await other.ok('deleteComment', { params: { id } });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
    await comment(other, off, 'word');
    await happenedAt('2026-11-17T10:00:00Z');
    await author.ok('updateNotificationPreferences', {
      body: { kinds: { comment: { in_app: true, mail: 'off' } } },
    });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
    await author.ok('updateNotificationPreferences', {
      body: { mail_enabled: false, kinds: { comment: { in_app: true, mail: 'digest' } } },
    });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
    await author.ok('updateNotificationPreferences', { body: { mail_enabled: true } });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
  });

  test('omits what its recipient may no longer read', async () => {
    const theirs = publisher(other);
    const [open, closed] = [await theirs({ title: 'Open' }), await theirs({ title: 'Closed' })];
    for (const { id } of [open, closed]) await author.ok('watchPost', { params: { id } });
    for (const post of [open, closed]) await comment(other, post, `about ${post.title}`);
    await happenedAt('2026-11-17T10:00:00Z');
    await other.ok('updatePost', { params: { id: closed.id }, body: { visibility: 'private' } });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    expect(mailbox.mails[0]?.subject).toBe('Vitrine: one thing happened');
    expect(mailbox.raw[0]).not.toContain('Closed');
  });

  // NOTICE-13
  test('is not sent to disabled accounts or accounts without an address', async () => {
    await comment(other, await write(), 'word');
    await happenedAt('2026-11-17T10:00:00Z');
    const { db } = library.deps;
    const set = (values: { status?: 'active' | 'disabled'; email?: string | null }) =>
      db.updateTable('users').set(values).where('ref', '=', author.ref).execute();
    await set({ status: 'disabled' });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
    await set({ status: 'active', email: null });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
    await set({ email: 'back@example.org' });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
  });

  test('lists fifty of several hundred notifications, and is not sent again for the rest', async () => {
    const post = await write();
    await sql`insert into notifications (user_ref, kind, act, actor_user_ref, post_id, in_app, mail, created_at)
      select ${author.ref}, 'comment', 'many:' || n, ${other.ref}, ${post.id}::uuid, true, 'digest', '2026-11-17T10:00:00Z'
      from generate_series(1, 300) n`.execute(library.deps.db);
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    expect(mailbox.mails[0]?.subject).toBe('Vitrine: more than 50 things happened');
    expect(await tick('2026-11-19T08:00:00Z')).toBe(0);
  });

  test('includes only kinds that are still turned on', async () => {
    const post = await write();
    await sql`insert into notifications (user_ref, kind, act, actor_user_ref, post_id, in_app, mail, created_at, happened_at)
      select ${author.ref}, case when n = 1 then 'mention' else 'comment' end, 'off:' || n, ${other.ref},
        ${post.id}::uuid, true, 'digest', '2026-11-17T10:00:00Z',
        '2026-11-17T09:00:00Z'::timestamptz + n * interval '1 second'
      from generate_series(1, 60) n`.execute(library.deps.db);
    await author.ok('updateNotificationPreferences', {
      body: { kinds: { comment: { in_app: true, mail: 'off' }, mention: { in_app: true, mail: 'digest' } } },
    });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    expect(mailbox.mails[0]?.subject).toBe('Vitrine: one thing happened');
    expect(mailbox.mails[0]?.text).toContain('mentioned you');
  });

  test('omits notifications that are weeks old', async () => {
    await comment(other, await write(), 'word');
    await happenedAt('2026-10-17T10:00:00Z');
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
  });
});
