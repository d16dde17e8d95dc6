import type {
  NotificationChoice,
  NotificationKind,
  NotificationPreferences,
} from '@vitrine/contract/notifications';
import { type RawBuilder, sql } from 'kysely';

/** What an account is told of while it chose nothing: all of it in the library, by mail what waits for an answer. */
export const defaultKinds: Readonly<Record<NotificationKind, NotificationChoice>> = {
  request_received: { in_app: true, mail: 'now' },
  request_decided: { in_app: true, mail: 'now' },
  comment: { in_app: true, mail: 'digest' },
  reply: { in_app: true, mail: 'now' },
  watched_comment: { in_app: true, mail: 'digest' },
  like: { in_app: true, mail: 'off' },
  follow: { in_app: true, mail: 'off' },
  mention: { in_app: true, mail: 'now' },
};

export const defaultDigest: NotificationPreferences['digest'] = {
  every: 'day',
  hour: 8,
  weekday: 1,
  time_zone: 'UTC',
};

/** Columns `in_app` and `mail` for a kind, of `users u` with `notification_preferences np` or no row of it. */
export function chosenColumns(kind: NotificationKind): RawBuilder<unknown> {
  const { in_app, mail } = defaultKinds[kind];
  return sql`coalesce((np.kinds -> ${kind}::text ->> 'in_app')::boolean, ${in_app}) as in_app,
    case when u.status <> 'active' or coalesce(u.email, '') = '' or not coalesce(np.mail_enabled, true) then 'off'
      else coalesce(np.kinds -> ${kind}::text ->> 'mail', ${mail}) end as mail`;
}
