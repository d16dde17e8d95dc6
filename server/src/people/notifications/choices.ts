import type {
  NotificationChoice,
  NotificationKind,
  NotificationPreferences,
} from '@vitrine/contract/notifications';
import { type RawBuilder, sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';

/** Default choices: everything in the app; mail only for what needs a response. */
export const defaultKinds: Readonly<Record<NotificationKind, NotificationChoice>> = {
  request_received: { in_app: true, mail: 'now' },
  request_decided: { in_app: true, mail: 'now' },
  comment: { in_app: true, mail: 'digest' },
  reply: { in_app: true, mail: 'now' },
  watched_comment: { in_app: true, mail: 'digest' },
  like: { in_app: true, mail: 'off' },
  follow: { in_app: true, mail: 'off' },
  mention: { in_app: true, mail: 'now' },
  team_member_added: { in_app: true, mail: 'digest' },
  publish_failed: { in_app: true, mail: 'now' },
  review_requested: { in_app: true, mail: 'now' },
  review_decided: { in_app: true, mail: 'now' },
  review_reopened: { in_app: true, mail: 'now' },
  review_due: { in_app: true, mail: 'now' },
  state_changed: { in_app: true, mail: 'digest' },
  assigned: { in_app: true, mail: 'now' },
  guest_feedback: { in_app: true, mail: 'digest' },
  deletion_requested: { in_app: true, mail: 'now' },
  deletion_decided: { in_app: true, mail: 'now' },
};

export const defaultDigest: NotificationPreferences['digest'] = {
  every: 'day',
  hour: 8,
  weekday: 1,
  time_zone: 'UTC',
};

/** Columns `in_app` and `mail` for a kind, from `users u` with its `notification_preferences np`, if any. */
export function chosenColumns(kind: NotificationKind): RawBuilder<unknown> {
  const { in_app, mail } = defaultKinds[kind];
  return sql`coalesce((np.kinds -> ${kind}::text ->> 'in_app')::boolean, ${in_app}) as in_app,
    case when not ${activeAccount('u')} or coalesce(u.email, '') = '' or not coalesce(np.mail_enabled, true) then 'off'
      else coalesce(np.kinds -> ${kind}::text ->> 'mail', ${mail}) end as mail`;
}
