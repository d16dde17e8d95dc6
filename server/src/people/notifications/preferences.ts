import {
  getNotificationPreferences,
  type NotificationPreferences,
  type NotificationPreferencesUpdate,
  updateNotificationPreferences,
} from '@vitrine/contract/notifications';
import { renamedZones } from '@vitrine/contract/time-zones';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { defaultDigest, defaultKinds } from './choices.ts';

interface PreferencesRow
  extends Columns<
    'notification_preferences',
    'mail_enabled' | 'digest_every' | 'digest_hour' | 'digest_weekday' | 'digest_zone'
  > {
  kinds: Partial<NotificationPreferences['kinds']>;
}

/** Returns the account's choices, completed by defaults. */
export async function readPreferences(db: Database, userRef: number): Promise<NotificationPreferences> {
  const { rows } = await sql<PreferencesRow>`
    select mail_enabled, kinds, digest_every, digest_hour, digest_weekday, digest_zone
    from notification_preferences where user_ref = ${userRef}`.execute(db);
  const row = rows[0];
  if (row === undefined) return { mail_enabled: true, kinds: { ...defaultKinds }, digest: defaultDigest };
  return {
    mail_enabled: row.mail_enabled,
    kinds: { ...defaultKinds, ...row.kinds },
    digest: {
      every: row.digest_every,
      hour: row.digest_hour,
      weekday: row.digest_weekday,
      time_zone: row.digest_zone,
    },
  };
}

/** Writes only what is sent, so that concurrent changes of different kinds are both kept. */
async function writePreferences(
  db: Database,
  userRef: number,
  body: NotificationPreferencesUpdate,
  zone: string | null,
) {
  const given = Object.entries(body.kinds ?? {}).filter(([, choice]) => choice !== undefined);
  const kinds = JSON.stringify(Object.fromEntries(given));
  const mail = body.mail_enabled ?? null;
  const { every = null, hour = null, weekday = null } = body.digest ?? {};
  const { every: day, hour: eight, weekday: monday, time_zone: utc } = defaultDigest;
  await sql`
    insert into notification_preferences (user_ref, mail_enabled, kinds, digest_every, digest_hour, digest_weekday,
      digest_zone)
    values (${userRef}, coalesce(${mail}::boolean, true), ${kinds}::jsonb, coalesce(${every}::text, ${day}),
      coalesce(${hour}::smallint, ${eight}::smallint), coalesce(${weekday}::smallint, ${monday}::smallint),
      coalesce(${zone}::text, ${utc}))
    on conflict (user_ref) do update set
      mail_enabled = coalesce(${mail}::boolean, notification_preferences.mail_enabled),
      kinds = notification_preferences.kinds || excluded.kinds,
      digest_every = coalesce(${every}::text, notification_preferences.digest_every),
      digest_hour = coalesce(${hour}::smallint, notification_preferences.digest_hour),
      digest_weekday = coalesce(${weekday}::smallint, notification_preferences.digest_weekday),
      digest_zone = coalesce(${zone}::text, notification_preferences.digest_zone)`.execute(db);
}

export const showPreferences = handle(getNotificationPreferences, async ({ db }, { caller }) => ({
  status: 200,
  body: await readPreferences(db, caller.ref),
}));

/**
 * Returns the time zone by the name that the database knows, which schedules digests. It must also be valid in Node:
 * the database accepts more names than exist.
 */
async function knownZone(db: Database, given: string): Promise<string> {
  const unknown = refuse('time-zone-unknown');
  try {
    new Intl.DateTimeFormat('en', { timeZone: given });
  } catch {
    throw unknown;
  }
  const names = [renamedZones[given] ?? given, given];
  const { rows } = await sql<{ name: string }>`
    select name from pg_timezone_names where name = any(${names}) order by name = ${given} limit 1`.execute(
    db,
  );
  const [zone] = rows;
  if (zone === undefined) throw unknown;
  return zone.name;
}

export const changePreferences = handle(updateNotificationPreferences, async ({ db }, { caller, body }) => {
  const given = body.digest?.time_zone ?? null;
  const zone = given === null ? null : await knownZone(db, given);
  await writePreferences(db, caller.ref, body, zone);
  return { status: 200, body: await readPreferences(db, caller.ref) };
});

/** The action of a mail's unsubscribe address: turns off all mail until the account enables it again. */
export async function turnMailOff(db: Database, userRef: number): Promise<boolean> {
  const { rows } = await sql`
    insert into notification_preferences (user_ref, mail_enabled)
    select ref, false from users where ref = ${userRef}
    on conflict (user_ref) do update set mail_enabled = false returning user_ref`.execute(db);
  return rows.length > 0;
}
