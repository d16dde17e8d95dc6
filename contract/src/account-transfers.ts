import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, Ref } from './values.ts';

const userParams = closed({ ref: Ref });

const moved = {
  assets: Count,
  posts: Count,
  collections: Count,
  comments: Count,
  whiteboards: Count,
  /** Assets and posts that stay, because they would be shown to more people. */
  kept_assets: Count,
  kept_posts: Count,
  /** Share links of the account, which end. */
  ended_links: Count,
};

/** TRANSFER-1: what moves to the other account, and what stays or ends. */
export const TransferCounts = closed(moved);
export type TransferCounts = Static<typeof TransferCounts>;

/** MERGE-1: also what belongs to a person. */
export const MergeCounts = closed({
  ...moved,
  teams: Count,
  grants: Count,
  revokes: Count,
  shares: Count,
  identities: Count,
  likes: Count,
  follows: Count,
  searches: Count,
  /** Access tokens and sessions of the account, which end. */
  ended_tokens: Count,
  ended_sessions: Count,
});
export type MergeCounts = Static<typeof MergeCounts>;

export const transferUser = operation({
  id: 'transferUser',
  method: 'POST',
  path: '/admin/users/{ref}/transfer',
  tag: 'Users',
  summary: 'Give everything of an account to another',
  description:
    'Moves assets, posts, collections, comments and whiteboards to the account `to`, at once or not at all. Nothing is shown to more people afterwards: what its followers see becomes shared with them by name, and assets and posts that the other account would show to more people stay. With `dry_run` nothing is written.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  params: userParams,
  example: { to: 7, dry_run: true },
  body: closed({ to: Ref, dry_run: Type.Optional(nullable(Type.Boolean())) }),
  responses: { 200: TransferCounts },
  errors: ['not-found', 'same-account', 'user-not-found'],
});

export const mergeUser = operation({
  id: 'mergeUser',
  method: 'POST',
  path: '/admin/users/{ref}/merge',
  tag: 'Users',
  summary: 'Merge an account into another',
  description:
    'Moves what `transferUser` moves, and teams, grants, revokes, shares, linked identities, likes, follows and saved searches. Ends the sessions and tokens of the account and archives it; its passkeys stay with it. The other account keeps its own role. With `dry_run` nothing is written. Returns 400 if no administrator would be left.',
  door: { holds: 'system.admin' },
  scope: 'admin',
  params: userParams,
  example: { into: 7, dry_run: true },
  body: closed({ into: Ref, dry_run: Type.Optional(nullable(Type.Boolean())) }),
  responses: { 200: MergeCounts },
  errors: ['last-administrator', 'not-found', 'same-account', 'user-not-found'],
});
