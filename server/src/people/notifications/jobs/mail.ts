import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { callerOf } from '../../../access/caller-of.ts';
import { activeAccount } from '../../../access/live.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { preferredLanguage } from '../../../platform/language/preferred.ts';
import { say, sayCount } from '../../../platform/language/say.ts';
import { type Mail, readMail } from '../../mail/settings.ts';
import { defaultDigest } from '../choices.ts';
import { postLetter } from '../post-letter.ts';
import { readPreferences } from '../preferences.ts';
import { showNotifications } from '../show.ts';
import { itemOf, sentenceOf } from '../wording.ts';

type MailDeps = Pick<Deps, 'db' | 'config' | 'secretKey' | 'log'>;

/** Attempts for mail, over some ten hours, to survive greylisting and an outage of an evening. */
export const MAIL_ATTEMPTS = 11;

/** Maximum number of notifications in a digest, which states how many more there are. */
const DIGEST_ITEMS = 50;
/** Older notifications are omitted from digests: mail was off, or could not be sent. */
const STALE_DAYS = 15;

/** Returns the account with its current rights if it may be mailed: active, with an address, and mail enabled. */
async function recipientOf(db: Database, userRef: number): Promise<SignedIn | null> {
  const recipient = await callerOf(db, userRef);
  if (recipient === null || !recipient.account.email) return null;
  return (await readPreferences(db, userRef)).mail_enabled ? recipient : null;
}

const languageOf = ({ account }: SignedIn) => preferredLanguage(account.preferences) ?? 'en';
const nameOf = ({ account, username }: SignedIn) => account.fullname ?? username;

/** Returns the subject and the greeting of a digest with `count` notifications, or with more than that. */
function wordsOfDigest(language: Language, site: string, name: string, count: number, more: boolean) {
  if (more)
    return {
      subject: say(language, '{site}: more than {count} new notifications', { site, count }),
      greeting: say(language, 'Hello {name}, you have more than {count} new notifications:', { name, count }),
    };
  return {
    subject: sayCount(language, count, ['{site}: # new notification', '{site}: # new notifications'], {
      site,
    }),
    greeting: sayCount(
      language,
      count,
      ['Hello {name}, you have # new notification:', 'Hello {name}, you have # new notifications:'],
      { name },
    ),
  };
}

/** Marks a notification as mailed, and as read if it is not shown in the app: what follows is mailed, too (NOTICE-3). */
async function setMailed(db: Database, id: string): Promise<void> {
  await sql`update notifications set mailed_at = now(),
      read_at = case when in_app then read_at else coalesce(read_at, now()) end
    where id = ${id} and mailed_at is null`.execute(db);
}

/** Mails one notification as its recipient may see it now, unless it was read meanwhile. */
async function mailOne(deps: MailDeps, mail: Mail, id: string): Promise<void> {
  const { db } = deps;
  const row = await db
    .selectFrom('notifications')
    .select(['user_ref', 'mailed_at', 'read_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined || row.mailed_at !== null || row.read_at !== null) return;
  const recipient = await recipientOf(db, row.user_ref);
  if (recipient === null) return;
  const [notification] = await showNotifications(db, recipient, sql`n.id = ${id}`, sql``);
  if (notification === undefined) return;
  const choice = (await readPreferences(db, row.user_ref)).kinds[notification.kind];
  if (choice.mail === 'off') return;
  const language = languageOf(recipient);
  await postLetter(deps, mail, recipient, {
    language,
    subject: sentenceOf(language, notification),
    greeting: say(language, 'Hello {name},', { name: nameOf(recipient) }),
    items: [itemOf(language, notification, mail.baseUrl)],
    id: `notification.${id}`,
  });
  await setMailed(db, id);
}

export function mailNotificationJob(deps: MailDeps): JobHandler<'mail-notification'> {
  return async ({ id }, { log }) => {
    const mail = await readMail(deps);
    if (mail !== null) await mailOne({ ...deps, log }, mail, id);
  };
}

/**
 * Returns when an account's digest was last due, by `notification_preferences np` or the defaults: today's hour in the
 * account's time zone or, if that is in the future, yesterday's.
 */
const slot = sql`digest_due(t.now, coalesce(np.digest_every, ${defaultDigest.every}),
  coalesce(np.digest_weekday, ${defaultDigest.weekday}::integer), coalesce(np.digest_hour, ${defaultDigest.hour}::integer),
  coalesce(np.digest_zone, ${defaultDigest.time_zone}))`;

/**
 * Runs hourly: enqueues a job for each account with notifications from before its hour. A missed hour is made up for in
 * the next run; a second run finds nothing pending.
 */
export async function queueDigests(db: Database, now: Date): Promise<void> {
  await sql`
    with due as materialized (
      select u.ref, s.slot from (select ${now.toISOString()}::timestamptz as now) t, users u
        left join notification_preferences np on np.user_ref = u.ref, lateral (select ${slot} as slot offset 0) s
      where ${activeAccount('u')} and coalesce(u.email, '') <> '' and coalesce(np.mail_enabled, true)
        and u.ref in (select n.user_ref from notifications n where n.mail = 'digest' and n.mailed_at is null)
        and exists (select from notifications n where n.user_ref = u.ref and n.mail = 'digest'
          and n.mailed_at is null and n.read_at is null and n.created_at < s.slot
          and n.created_at > s.slot - make_interval(days => ${STALE_DAYS}))),
    queued as materialized (
      select graphile_worker.add_job('mail-digest', json_build_object('user', ref, 'before', slot),
        job_key => 'digest:' || ref, max_attempts => ${MAIL_ATTEMPTS}) from due)
    select count(*) from queued`.execute(db);
}

export function mailDigestsJob(deps: MailDeps): JobHandler<'mail-digests'> {
  return async () => {
    if ((await readMail(deps)) !== null) await queueDigests(deps.db, new Date());
  };
}

/** Mails an account's pending notifications that are still visible, if any. */
async function mailDigest(deps: MailDeps, mail: Mail, userRef: number, before: string): Promise<void> {
  const { db } = deps;
  const recipient = await recipientOf(db, userRef);
  if (recipient === null) return;
  const waiting = sql<boolean>`n.mail = 'digest' and n.mailed_at is null and n.read_at is null
    and n.created_at < ${before}::timestamptz
    and n.created_at > ${before}::timestamptz - make_interval(days => ${STALE_DAYS})`;
  const { kinds } = await readPreferences(db, userRef);
  const unwanted = Object.entries(kinds).flatMap(([kind, { mail }]) => (mail === 'off' ? [kind] : []));
  const rest = sql`order by n.happened_at desc, n.id desc limit ${DIGEST_ITEMS + 1}`;
  // Kinds that were disabled meanwhile are left out before the limit is applied.
  const which = sql<boolean>`${waiting} and n.kind <> all(${unwanted}::text[])`;
  const wanted = await showNotifications(db, recipient, which, rest);
  if (wanted.length === 0) return;
  const shown = wanted.slice(0, DIGEST_ITEMS);
  const more = wanted.length > shown.length;
  const language = languageOf(recipient);
  await postLetter(deps, mail, recipient, {
    language,
    ...wordsOfDigest(language, mail.siteName, nameOf(recipient), shown.length, more),
    items: shown.map((notification) => itemOf(language, notification, mail.baseUrl)),
    id: `digest.${userRef}.${Date.parse(before)}`,
  });
  // Includes those beyond the fifty: the digest states their number and does not repeat them.
  await db
    .updateTable('notifications as n')
    .set({ mailed_at: sql<string>`now()` })
    .where('n.user_ref', '=', userRef)
    .where(waiting)
    .execute();
}

export function mailDigestJob(deps: MailDeps): JobHandler<'mail-digest'> {
  return async ({ user, before }, { log }) => {
    const mail = await readMail(deps);
    if (mail !== null) await mailDigest({ ...deps, log }, mail, user, before);
  };
}
