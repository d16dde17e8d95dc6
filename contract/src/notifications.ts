import { type Static, Type } from 'typebox';
import { Comment } from './comments.ts';
import { PostAuthor } from './identity.ts';
import { bytes, events, noContent, operation } from './operation.ts';
import { ReviewNews } from './reviews.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Titled, Uuid } from './values.ts';

/** The kinds of notification. */
export const notificationKinds = [
  'request_received',
  'request_decided',
  'comment',
  'reply',
  'watched_comment',
  'like',
  'follow',
  'mention',
  'team_member_added',
  'publish_failed',
  'review_requested',
  'review_decided',
  'review_reopened',
  'review_due',
  'state_changed',
  'assigned',
  'guest_feedback',
  'deletion_requested',
  'deletion_decided',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/**
 * An event as its recipient may see it now; lists omit what the recipient may no longer read. `actor` is the latest
 * actor and `actor_count` the number of actors (likes of a post share a notification while it is unread).
 */
export const Notification = closed({
  id: Uuid,
  kind: Type.Enum([...notificationKinds]),
  actor: Type.Optional(PostAuthor),
  actor_count: Count,
  post: Type.Optional(Titled),
  /** The team, and the account that was added to it. */
  team: Type.Optional(closed({ id: Uuid, name: Type.String() })),
  member: Type.Optional(PostAuthor),
  comment: Type.Optional(closed({ id: Uuid, parent_id: nullable(Uuid), excerpt: Type.String() })),
  request: Type.Optional(
    closed({
      id: Uuid,
      target_kind: Type.Enum(['asset', 'post', 'collection']),
      target_id: Uuid,
      requested_capability: Type.String(),
      state: Type.Enum(['pending', 'granted', 'denied', 'expired']),
      /** The title of the target, if the recipient may see it. */
      title: Type.Optional(Type.String()),
    }),
  ),
  /**
   * The review. In `review_decided`, `decision` is the one that was notified, even if the actor has decided again. With
   * a comment, the open review in which the recipient reads its draft.
   */
  review: Type.Optional(
    closed({
      id: Uuid,
      due_at: nullable(Timestamp),
      decision: nullable(Type.Enum(['approved', 'changes_requested'])),
    }),
  ),
  /** The asset that was moved, and the state to which. */
  asset: Type.Optional(Titled),
  state: Type.Optional(closed({ id: Uuid, label: Type.String() })),
  /** The link at whose page guests left something, and what it shows. */
  link: Type.Optional(
    closed({
      id: Uuid,
      label: Type.String(),
      target_kind: Type.Enum(['asset', 'post', 'collection']),
      target_id: Uuid,
    }),
  ),
  read: Type.Boolean(),
  happened_at: Timestamp,
});
export type Notification = Static<typeof Notification>;

export const listNotifications = operation({
  id: 'listNotifications',
  method: 'GET',
  path: '/account/notifications',
  tag: 'Notifications',
  summary: 'List notifications',
  description:
    'Lists notifications of the caller, newest first. Notifications about content that the caller may no longer read are omitted.',
  door: 'signedIn',
  scope: 'read',
  query: closed({ ...pageQuery, unread: Type.Optional(Type.Boolean()) }),
  responses: { 200: page(Notification) },
  errors: [],
});

/** Counting stops at this number. */
export const MOST_UNREAD = 1000;

export const getUnreadCount = operation({
  id: 'getUnreadCount',
  method: 'GET',
  path: '/account/notifications/unread-count',
  tag: 'Notifications',
  summary: 'Count unread notifications',
  description: 'Exact up to 1,000.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ count: Type.Integer({ minimum: 0, maximum: MOST_UNREAD }) }) },
  errors: [],
});

export const readNotification = operation({
  id: 'readNotification',
  method: 'POST',
  path: '/account/notifications/{id}/read',
  tag: 'Notifications',
  summary: 'Mark a notification as read',
  description: 'Idempotent. Returns 404 for a notification of another account.',
  door: 'signedIn',
  scope: 'admin',
  params: closed({ id: Uuid }),
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const readAllNotifications = operation({
  id: 'readAllNotifications',
  method: 'POST',
  path: '/account/notifications/read-all',
  tag: 'Notifications',
  summary: 'Mark all notifications as read',
  description: 'Idempotent.',
  door: 'signedIn',
  scope: 'admin',
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: [],
});

export const NotificationChoice = closed({
  in_app: Type.Boolean(),
  /** `now`: one mail per notification. `digest`: included in the next digest. */
  mail: Type.Enum(['off', 'now', 'digest']),
});
export type NotificationChoice = Static<typeof NotificationChoice>;

const digestMembers = {
  every: Type.Enum(['day', 'week']),
  /** The hour of the day in `time_zone`. */
  hour: Type.Integer({ minimum: 0, maximum: 23 }),
  /** The day of a weekly digest; Monday is 1. */
  weekday: Type.Integer({ minimum: 1, maximum: 7 }),
};
/** A name such as `Europe/Berlin`; `UTC` by default. */
const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$',
});
export const Digest = closed({ ...digestMembers, time_zone: TimeZone });

const kindMembers = {
  request_received: NotificationChoice,
  request_decided: NotificationChoice,
  comment: NotificationChoice,
  reply: NotificationChoice,
  watched_comment: NotificationChoice,
  like: NotificationChoice,
  follow: NotificationChoice,
  mention: NotificationChoice,
  team_member_added: NotificationChoice,
  publish_failed: NotificationChoice,
  review_requested: NotificationChoice,
  review_decided: NotificationChoice,
  review_reopened: NotificationChoice,
  review_due: NotificationChoice,
  state_changed: NotificationChoice,
  assigned: NotificationChoice,
  guest_feedback: NotificationChoice,
  deletion_requested: NotificationChoice,
  deletion_decided: NotificationChoice,
};

/** The notification preferences of an account, with defaults for everything it has not set. */
export const NotificationPreferences = closed({
  /** False turns off mail of every kind, regardless of `kinds`. */
  mail_enabled: Type.Boolean(),
  kinds: closed(kindMembers),
  digest: Digest,
});
export type NotificationPreferences = Static<typeof NotificationPreferences>;

export const getNotificationPreferences = operation({
  id: 'getNotificationPreferences',
  method: 'GET',
  path: '/account/notification-preferences',
  tag: 'Notifications',
  summary: 'Get the notification preferences',
  description:
    'Returns for each kind whether it is shown in the app and mailed, and when the digest is sent.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: NotificationPreferences },
  errors: [],
});

export const updateNotificationPreferences = operation({
  id: 'updateNotificationPreferences',
  method: 'PATCH',
  path: '/account/notification-preferences',
  tag: 'Notifications',
  summary: 'Change the notification preferences',
  description:
    'Replaces each kind in the body as a whole and leaves the others unchanged. `mail_enabled: false` turns off mail of every kind.',
  door: 'signedIn',
  scope: 'admin',
  example: { kinds: { like: { in_app: true, mail: 'off' } } },
  body: closed({
    mail_enabled: Type.Optional(nullable(Type.Boolean())),
    kinds: Type.Optional(nullable(Type.Partial(closed(kindMembers), { additionalProperties: false }))),
    digest: Type.Optional(
      nullable(closed({ ...digestMembers, time_zone: Type.Optional(nullable(TimeZone)) })),
    ),
  }),
  seenBy: 'caller',
  responses: { 200: NotificationPreferences },
  errors: ['time-zone-unknown'],
});
export type NotificationPreferencesUpdate = Static<typeof updateNotificationPreferences.body>;

export const Watch = closed({ watching: Type.Boolean() });
const watch = {
  path: '/posts/{id}/watch',
  tag: 'Notifications',
  door: 'signedIn',
  errors: ['not-found'],
} as const;

export const getWatch = operation({
  ...watch,
  id: 'getWatch',
  method: 'GET',
  summary: 'Check whether the caller watches a post',
  description: 'Watchers are notified of comments. Authors and commenters watch a post until they stop.',
  scope: 'read',
  params: closed({ id: Uuid }),
  responses: { 200: Watch },
});

export const watchPost = operation({
  ...watch,
  id: 'watchPost',
  method: 'PUT',
  summary: 'Watch a post',
  description: 'Idempotent.',
  scope: 'admin',
  params: closed({ id: Uuid }),
  seenBy: 'caller',
  responses: { 200: Watch },
});

export const unwatchPost = operation({
  ...watch,
  id: 'unwatchPost',
  method: 'DELETE',
  summary: 'Stop watching a post',
  description: 'Idempotent. Later comments of the caller do not start it again.',
  scope: 'admin',
  params: closed({ id: Uuid }),
  seenBy: 'caller',
  responses: { 200: Watch },
});

/** BOARD-10: which whiteboard to read again. */
const WhiteboardNews = closed({ id: Uuid, post_id: Uuid, updated_at: Timestamp });
/** ANNOTATION-10: a comment or a whiteboard that was deleted. */
const Deleted = closed({ id: Uuid, post_id: Uuid, deleted: Type.Literal(true) });

export const streamEvents = operation({
  id: 'streamEvents',
  method: 'GET',
  path: '/events',
  tag: 'Notifications',
  summary: 'Stream events',
  description:
    'Streams events of the account, starting with the current state, and resumes after an interruption. With `post`, also what happens at this post and who is looking at it, and for its editors the feedback of guests of its links; read its thread and its reviews again after an interruption. The stream ends with the session or token. In public mode, visitors without an account get the comments, annotations and whiteboards of a `post` that they read, and nothing else. Returns 429 when the account has ten open streams, or the address of a visitor twenty.',
  door: 'public',
  scope: 'read',
  query: closed({ post: Type.Optional(Uuid) }),
  responses: {
    200: events({
      notification: closed({ unread_count: Count }),
      // A new, changed or deleted comment of the post that the caller reads.
      comment: Type.Union([Comment, Deleted]),
      // A comment that was resolved, reopened or assigned.
      resolved: Comment,
      // A whiteboard of the post that was made or changed, or that was deleted.
      whiteboard: Type.Union([WhiteboardNews, Deleted]),
      // A review of the post that was asked for, decided in, reopened or closed, if the caller reads it.
      decision: ReviewNews,
      // Guests of a link to the post commented, decided, picked or gave a name, or were muted: read the lists of the link again.
      feedback: closed({ link_id: Uuid }),
      // Who has the post open.
      presence: closed({ viewers: Type.Array(PostAuthor) }),
      // The last event before the server stops.
      closing: closed({ reconnect_after_ms: Count }),
    }),
  },
  errors: ['not-found', 'too-many-event-streams'],
});

const unsubscribe = {
  path: '/mail/unsubscribe',
  tag: 'Notifications',
  door: 'open',
  scope: 'none',
  errors: ['not-found', 'unsubscribe-address-invalid'],
} as const;
const unsubscribeQuery = closed({ token: Type.Optional(Type.String({ maxLength: 500 })) });

export const askUnsubscribe = operation({
  ...unsubscribe,
  id: 'askUnsubscribe',
  method: 'GET',
  summary: 'Open the unsubscribe page',
  description: 'Returns the page behind the unsubscribe address of a mail. Opening it changes nothing.',
  query: unsubscribeQuery,
  responses: { 200: bytes('text/html') },
});

export const unsubscribeMail = operation({
  ...unsubscribe,
  id: 'unsubscribeMail',
  method: 'POST',
  summary: 'Unsubscribe from mail',
  description:
    'Turns off mail for the account that the mail was sent to, without signing in (RFC 8058). The body is ignored. A forged token returns 401.',
  query: unsubscribeQuery,
  unreadForm: true,
  responses: { 200: bytes('text/html') },
});
