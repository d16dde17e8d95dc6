import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable } from './values.ts';

/** Whether accounts may be followed over ActivityPub, and what is missing for it. */
export const ActivityPub = closed({
  enabled: Type.Boolean(),
  /** Whether it is in effect: it needs public mode and a public address without a path. */
  serving: Type.Boolean(),
  public_mode: Type.Boolean(),
  /** The public address of the library; null if none is set. */
  address: nullable(Type.String()),
  /** Accounts that opted in, and their followers. */
  accounts_count: Count,
  followers_count: Count,
  /** Pending activities. */
  waiting_count: Count,
});
export type ActivityPub = Static<typeof ActivityPub>;

/** How the caller's account can be followed over ActivityPub. */
export const FollowableAccount = closed({
  /** Whether the library offers it. */
  available: Type.Boolean(),
  followable: Type.Boolean(),
  /** What others search for, as in `@ada@media.example.org`; null unless the account can be followed. */
  handle: nullable(Type.String()),
  followers_count: Count,
  /** Likes and boosts that the account's posts received from elsewhere. */
  likes_count: Count,
  boosts_count: Count,
});
export type FollowableAccount = Static<typeof FollowableAccount>;

const tag = 'Federation';

export const getActivityPub = operation({
  id: 'getActivityPub',
  method: 'GET',
  path: '/admin/activitypub',
  tag,
  summary: 'Get whether accounts can be followed over ActivityPub',
  description:
    'Returns the switch, what it needs to be in effect, and how many accounts and followers there are.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: ActivityPub },
  errors: [],
});

export const updateActivityPub = operation({
  id: 'updateActivityPub',
  method: 'PATCH',
  path: '/admin/activitypub',
  tag,
  summary: 'Switch ActivityPub on or off',
  description:
    'While it is off, all of its addresses return 404 and nothing is sent. Accounts keep their choice and their followers. When it is switched on again, followers are told what has changed.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({ enabled: Type.Boolean() }),
  responses: { 200: ActivityPub },
  errors: [],
});

export const getFollowableAccount = operation({
  id: 'getFollowableAccount',
  method: 'GET',
  path: '/account/activitypub',
  tag,
  summary: 'Get whether own posts can be followed over ActivityPub',
  description:
    'Returns the choice of the caller, their handle, and the number of followers, likes and boosts.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: FollowableAccount },
  errors: [],
});

export const updateFollowableAccount = operation({
  id: 'updateFollowableAccount',
  method: 'PATCH',
  path: '/account/activitypub',
  tag,
  summary: 'Allow or end following own posts over ActivityPub',
  description:
    'Public posts are then sent to followers, without restricted and mature files. Ending it asks the systems of all followers to remove what they have. Returns 409 while the library does not offer it, for profiles hidden from visitors, and for usernames that cannot be part of a handle.',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  body: closed({ followable: Type.Boolean() }),
  responses: { 200: FollowableAccount },
  errors: ['followers-off', 'profile-hidden', 'username-not-addressable'],
});
