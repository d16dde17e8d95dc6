import { type Static, Type } from 'typebox';
import { OriginFilter } from './federation.ts';
import { noContent, operation } from './operation.ts';
import { TagName } from './tags.ts';
import { Count, closed, nullable, Ref, Timestamp, Uuid } from './values.ts';

/** The maximum number of views of an account. */
export const MOST_VIEWS = 100;

/** The filters of a view and its layout. */
export const FeedViewQuery = closed({
  feed: Type.Optional(Type.Enum(['latest', 'following', 'trending', 'team'])),
  sort: Type.Optional(Type.Enum(['newest', 'oldest'])),
  tag: Type.Optional(Type.Array(TagName, { maxItems: 10 })),
  author_ref: Type.Optional(Ref),
  team_id: Type.Optional(Uuid),
  origin: Type.Optional(OriginFilter),
  collection: Type.Optional(Uuid),
  q: Type.Optional(Type.String({ maxLength: 500 })),
  layout: Type.Optional(Type.Enum(['grid', 'masonry', 'thumbnail', 'list', 'feed'])),
});
export type FeedViewQuery = Static<typeof FeedViewQuery>;

/** A view of the feed that an account has saved under a name. */
export const FeedView = closed({
  id: Uuid,
  name: Type.String({ maxLength: 100 }),
  query: FeedViewQuery,
  position: Count,
  created_at: Timestamp,
});
export type FeedView = Static<typeof FeedView>;

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const idParams = closed({ id: Uuid });

export const listFeedViews = operation({
  id: 'listFeedViews',
  method: 'GET',
  path: '/account/views',
  tag: 'Account',
  summary: 'List saved views',
  description: 'Lists the saved views of the feed in the order of the account.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: Type.Array(FeedView, { maxItems: MOST_VIEWS }) },
  errors: [],
});

export const createFeedView = operation({
  id: 'createFeedView',
  method: 'POST',
  path: '/account/views',
  tag: 'Account',
  summary: 'Save a view',
  description: 'Appends a view. Returns 409 if the name is taken or the account already has 100 views.',
  door: 'signedIn',
  scope: 'admin',
  example: { name: 'Harbours', query: { tag: ['harbour'], layout: 'grid' } },
  body: closed({ name: Name, query: FeedViewQuery }),
  seenBy: 'caller',
  responses: { 201: FeedView },
  errors: ['name-not-storable', 'name-taken', 'too-many-saved'],
});

export const updateFeedView = operation({
  id: 'updateFeedView',
  method: 'PATCH',
  path: '/account/views/{id}',
  tag: 'Account',
  summary: 'Change a saved view',
  description: 'Renames the view or replaces its query. Returns 409 if the name is taken.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  example: { name: 'Harbours' },
  body: closed({ name: Type.Optional(nullable(Name)), query: Type.Optional(nullable(FeedViewQuery)) }),
  seenBy: 'caller',
  responses: { 200: FeedView },
  errors: ['name-not-storable', 'name-taken', 'not-found'],
});

export const deleteFeedView = operation({
  id: 'deleteFeedView',
  method: 'DELETE',
  path: '/account/views/{id}',
  tag: 'Account',
  summary: 'Delete a saved view',
  description: 'Returns 404 for a view of another account.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const orderFeedViews = operation({
  id: 'orderFeedViews',
  method: 'PUT',
  path: '/account/views/order',
  tag: 'Account',
  summary: 'Order the saved views',
  description: 'Requires all views of the account, each once. Returns 409 when they have changed.',
  door: 'signedIn',
  scope: 'admin',
  body: closed({ view_ids: Type.Array(Uuid, { maxItems: 200 }) }),
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['views-changed', 'views-repeated'],
});
