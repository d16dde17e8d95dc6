import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { closed, Timestamp, Uuid } from './values.ts';

/** A browser that gets notifications while no page is open (PUSH-1). */
export const PushSubscription = closed({
  id: Uuid,
  endpoint: Type.String(),
  created_at: Timestamp,
});
export type PushSubscription = Static<typeof PushSubscription>;

const base64Url = (bytes: number) => {
  const length = Math.ceil((bytes * 4) / 3);
  // Some browsers add padding.
  return Type.String({ pattern: `^[A-Za-z0-9_-]{${length}}={0,2}$` });
};

export const getPushKey = operation({
  id: 'getPushKey',
  method: 'GET',
  path: '/push/key',
  tag: 'Notifications',
  summary: 'Get the key for push notifications',
  description:
    'Returns the public key of the library (VAPID) as base64url, for `applicationServerKey` of `PushManager.subscribe`.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ key: Type.String() }) },
  errors: [],
});

export const listPushSubscriptions = operation({
  id: 'listPushSubscriptions',
  method: 'GET',
  path: '/account/push',
  tag: 'Notifications',
  summary: 'List push subscriptions',
  description: 'Lists the browsers that get notifications of the account, newest first.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ items: Type.Array(PushSubscription) }) },
  errors: [],
});

export const createPushSubscription = operation({
  id: 'createPushSubscription',
  method: 'POST',
  path: '/account/push',
  tag: 'Notifications',
  summary: 'Subscribe a browser to push notifications',
  description:
    'Takes `endpoint` and `keys` of a `PushSubscription`. The subscription ends with the session, and the push service never gets a text that the recipient may no longer read. Returns 200 if this session has this subscription already. An endpoint on an internal address returns 400.',
  door: 'signedIn',
  scope: 'session',
  whileImpersonating: 'refused',
  example: {
    endpoint: 'https://push.example.org/send/0a1b2c3d',
    keys: {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  },
  body: closed({
    endpoint: Type.String({ maxLength: 2000, pattern: '^https?://[!-~]+$' }),
    keys: closed({ p256dh: base64Url(65), auth: base64Url(16) }),
  }),
  responses: { 200: PushSubscription, 201: PushSubscription },
  errors: ['push-endpoint-internal', 'push-keys-invalid'],
});

export const deletePushSubscription = operation({
  id: 'deletePushSubscription',
  method: 'DELETE',
  path: '/account/push/{id}',
  tag: 'Notifications',
  summary: 'End a push subscription',
  description: 'Returns 404 for a subscription of another account.',
  door: 'signedIn',
  scope: 'session',
  whileImpersonating: 'refused',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** The most characters of the text of a push message. */
export const MOST_PUSH_TEXT = 300;

/** What a push message contains (PUSH-3). */
export const PushMessage = closed({
  /** The kind of the notification. */
  kind: Type.String(),
  text: Type.String({ maxLength: MOST_PUSH_TEXT }),
  /** The path of the page that it opens. */
  path: Type.String(),
  /** The id of the notification: a repeated message replaces the first one. */
  tag: Type.String(),
  /** The recipient; the device does not show it to another account. */
  user: Type.Integer(),
});
export type PushMessage = Static<typeof PushMessage>;
