import type { updateNotificationPreferences } from '@vitrine/contract/notifications';
import type { BodyOf } from '@vitrine/contract/operation';
import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { queueDigests } from '../../src/people/notifications/jobs/mail.ts';
import { comment, publisher, settle } from '../notifications/telling.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { setEmail } from '../support/people.ts';
import { openMailbox } from './mailbox.ts';

let author: Account;
let other: Account;
let write: ReturnType<typeof publisher>;
let round = 0;

const mailbox = await openMailbox();
const library = await openLibrary({
  VITRINE_SMTP_URL: mailbox.url,
  VITRINE_BASE_URL: 'https://pictures.example.org',
});
afterAll(mailbox.close);

beforeEach(async () => {
  mailbox.empty();
  round += 1;
  author = await library.join(`author${round}`);
  await setEmail(library, author, `author${round}@example.org`);
  other = await library.join(`other${round}`);
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

/** Changes the preferences of the author. */
const prefer = (body: BodyOf<typeof updateNotificationPreferences>) =>
  author.ok('updateNotificationPreferences', { body });

/** Comments on a post of the author, as of this time. */
async function commentAt(moment: string, post?: Post, text = 'word') {
  const written = await comment(other, post ?? (await write()), text);
  await happenedAt(moment);
  return written;
}

describe('a digest', () => {
  // NOTICE-11
  test('is sent once at the hour that the account chose, and includes later notifications the next day', async () => {
    const post = await write({ title: 'A tower' });
    await comment(other, post, 'tall');
    await commentAt('2026-11-17T10:00:00Z', post, 'taller');
    expect(await tick('2026-11-18T07:00:01Z')).toBe(0);
    expect(await tick('2026-11-18T08:00:01Z')).toBe(1);
    expect(await tick('2026-11-18T08:00:02Z')).toBe(0);
    const [mail] = mailbox.mails;
    expect(mail?.subject).toBe('Vitrine: 2 new notifications');
    expect(mail?.text).toContain('> tall');
    expect(mail?.text).toContain(`https://pictures.example.org/posts/${post.id}`);
    const due = Date.parse('2026-11-18T08:00:00Z');
    expect(mail?.messageId).toBe(`<digest.${author.ref}.${due}@pictures.example.org>`);
    await commentAt('2026-11-18T08:30:00Z', post, 'late');
    expect(await tick('2026-11-18T09:00:01Z')).toBe(0);
    expect(await tick('2026-11-19T08:00:01Z')).toBe(1);
    expect(mailbox.mails[1]?.text).toContain('> late');
    expect(mailbox.mails[1]?.text).not.toContain('> tall');
    expect(await tick('2026-11-20T08:00:01Z')).toBe(0);
  });

  test('is sent weekly on the chosen day', async () => {
    await prefer({ digest: { every: 'week', hour: 18, weekday: 5 } });
    await commentAt('2026-11-17T10:00:00Z');
    // 20 November 2026 is a Friday.
    const sent: number[] = [];
    for (const hour of ['19T18', '20T08', '20T18', '21T18']) sent.push(await tick(`2026-11-${hour}:00:00Z`));
    expect(sent).toEqual([0, 0, 1, 0]);
  });

  /** Returns whether a digest is sent at each of these consecutive hours, for an event before the first. */
  async function comesAt(time_zone: string, hour: number, moments: readonly string[]): Promise<number[]> {
    await prefer({ digest: { every: 'day', hour, weekday: 1, time_zone } });
    const [first = ''] = moments;
    await commentAt(new Date(Date.parse(first) - 3_000_000).toISOString());
    const found: number[] = [];
    for (const moment of moments) found.push(await tick(moment));
    return found;
  }

  // NOTICE-11
  test('is sent at the local hour of the account, in summer and winter', async () => {
    const hours = (day: number) => [4, 5, 6].map((hour) => `2026-10-${day}T0${hour}:00:00Z`);
    // Berlin left summer time on 25 October 2026: 7:00 was 5:00 UTC before, and 6:00 UTC after.
    expect(await comesAt('Europe/Berlin', 7, hours(24))).toEqual([0, 1, 0]);
    expect(await comesAt('Europe/Berlin', 7, hours(26))).toEqual([0, 0, 1]);
  });

  test('is sent on the local day of the account; zones with half hours get it at the next full hour', async () => {
    const hours = ['02', '03', '04'].map((hour) => `2026-11-18T${hour}:00:00Z`);
    // 9:00 in Kathmandu is 03:15 UTC.
    expect(await comesAt('Asia/Kathmandu', 9, hours)).toEqual([0, 0, 1]);
    await prefer({ digest: { every: 'week', hour: 8, weekday: 1, time_zone: 'Pacific/Auckland' } });
    await commentAt('2026-11-21T10:00:00Z');
    // Monday the 23rd, 8:00 there, is Sunday evening in UTC.
    expect(await tick('2026-11-22T18:00:00Z')).toBe(0);
    expect(await tick('2026-11-22T19:00:00Z')).toBe(1);
  });

  // NOTICE-11
  test('uses UTC if the database no longer knows the time zone, and is sent later if no worker ran', async () => {
    await prefer({ digest: { every: 'day', hour: 8, weekday: 1, time_zone: 'Asia/Tokyo' } });
    await sql`update notification_preferences set digest_zone = 'Lost/Atlantis'
      where user_ref = ${author.ref}`.execute(library.deps.db);
    await commentAt('2026-11-17T10:00:00Z');
    expect(await tick('2026-11-18T07:00:00Z')).toBe(0);
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    await commentAt('2026-11-18T10:00:00Z');
    expect(await tick('2026-11-19T13:00:00Z')).toBe(1);
  });

  // NOTICE-11
  test('is not sent if everything in it was read, deleted or turned off', async () => {
    const due = () => tick('2026-11-18T08:00:00Z');
    await commentAt('2026-11-17T10:00:00Z');
    await author.ok('readAllNotifications');
    expect(await due()).toBe(0);
    const { id } = await commentAt('2026-11-17T10:00:00Z');
    await other.ok('deleteComment', { params: { id } });
    expect(await due()).toBe(0);
    await commentAt('2026-11-17T10:00:00Z');
    await prefer({ kinds: { comment: { in_app: true, mail: 'off' } } });
    expect(await due()).toBe(0);
    await prefer({ mail_enabled: false, kinds: { comment: { in_app: true, mail: 'digest' } } });
    expect(await due()).toBe(0);
    await prefer({ mail_enabled: true });
    expect(await due()).toBe(1);
  });

  test('omits what its recipient may no longer read', async () => {
    const theirs = publisher(other);
    const [open, closed] = [await theirs({ title: 'Open' }), await theirs({ title: 'Closed' })];
    for (const { id } of [open, closed]) await author.ok('watchPost', { params: { id } });
    for (const post of [open, closed]) await comment(other, post, `about ${post.title}`);
    await happenedAt('2026-11-17T10:00:00Z');
    await other.ok('updatePost', { params: { id: closed.id }, body: { visibility: 'private' } });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    expect(mailbox.mails[0]?.subject).toBe('Vitrine: 1 new notification');
    expect(mailbox.raw[0]).not.toContain('Closed');
  });

  // NOTICE-13
  test('is not sent to disabled accounts or accounts without an address', async () => {
    await commentAt('2026-11-17T10:00:00Z');
    for (const [status, email, sent] of [
      ['disabled', 'author@example.org', 0],
      ['active', null, 0],
      ['active', 'back@example.org', 1],
    ] as const) {
      const set = library.deps.db.updateTable('users').set({ status, email });
      await set.where('ref', '=', author.ref).execute();
      expect([status, email, await tick('2026-11-18T08:00:00Z')]).toEqual([status, email, sent]);
    }
  });

  /** Records this many notifications of the author: a mention, then comments. */
  async function addNotifications(count: number): Promise<void> {
    const post = await write();
    await sql`insert into notifications (user_ref, kind, act, actor_user_ref, post_id, in_app, mail, created_at, happened_at)
      select ${author.ref}, case when n = 1 then 'mention' else 'comment' end, 'many:' || n, ${other.ref},
        ${post.id}::uuid, true, 'digest', '2026-11-17T10:00:00Z',
        '2026-11-17T09:00:00Z'::timestamptz + n * interval '1 second'
      from generate_series(1, ${count}::int) n`.execute(library.deps.db);
  }

  test('lists fifty of several hundred notifications, and is not sent again for the rest', async () => {
    await addNotifications(300);
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    expect(mailbox.mails[0]?.subject).toBe('Vitrine: more than 50 new notifications');
    expect(await tick('2026-11-19T08:00:00Z')).toBe(0);
  });

  test('includes only kinds that are still turned on', async () => {
    await addNotifications(60);
    await prefer({
      kinds: { comment: { in_app: true, mail: 'off' }, mention: { in_app: true, mail: 'digest' } },
    });
    expect(await tick('2026-11-18T08:00:00Z')).toBe(1);
    expect(mailbox.mails[0]?.subject).toBe('Vitrine: 1 new notification');
    expect(mailbox.mails[0]?.text).toContain('mentioned you');
  });

  // NOTICE-3, NOTICE-11
  test.each([true, false])(
    'has likes since the last one, though they share a notification (in the app: %s)',
    async (in_app) => {
      await prefer({ kinds: { like: { in_app, mail: 'digest' } } });
      const post = await write({ title: 'A tower' });
      const subjects: (string | undefined)[] = [];
      for (const day of [17, 18, 19]) {
        if (day !== 19) {
          const reader = await library.join(`reader-${round}-${day}`);
          await reader.ok('likePost', { params: { id: post.id } });
          await happenedAt(`2026-11-${day}T10:00:00Z`);
        }
        mailbox.empty();
        await tick(`2026-11-${day + 1}T08:00:00Z`);
        subjects.push(mailbox.mails[0]?.subject);
      }
      const one = 'Vitrine: 1 new notification';
      expect(subjects).toEqual([one, one, undefined]);
    },
  );

  test('omits notifications that are weeks old', async () => {
    await commentAt('2026-10-17T10:00:00Z');
    expect(await tick('2026-11-18T08:00:00Z')).toBe(0);
  });
});
