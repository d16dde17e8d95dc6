import { type Static, Type } from 'typebox';
import { GivenValues } from './field-values.ts';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Post, Share } from './posts.ts';
import {
  Count,
  closed,
  NameOnOneLine,
  nullable,
  page,
  pageQuery,
  Reason,
  Ref,
  Removal,
  Timestamp,
  Uuid,
  Visibility,
} from './values.ts';

/** How many posts a collection holds at most. */
export const mostPosts = 100_000;

/** One picture of the mosaic that stands for a collection. */
const CollectionCover = closed({ asset_id: Uuid, preview_available: Type.Boolean() });

/** COLLECTION-1: who may open it is `visibility`, with the words of posts. */
export const Collection = closed({
  id: Uuid,
  owner_user_ref: Ref,
  owner: Type.Optional(PostAuthor),
  name: Type.String({ maxLength: 200 }),
  description: Type.String(),
  visibility: Visibility,
  /** The post chosen to stand first on the cover; null without one, and for whom it is not shown to. */
  cover_post_id: nullable(Uuid),
  /** The centre of the first cover's crop; null means the middle. Both or neither. */
  cover_focal_x: nullable(Type.Number()),
  cover_focal_y: nullable(Type.Number()),
  /** Up to four pictures the caller is shown: the chosen cover, then the collection's order. */
  covers: Type.Array(CollectionCover, { maxItems: 4 }),
  /** The posts of it that the caller is shown, counted up to 10,000, on lists up to 1,000. */
  item_count: Count,
  /** From then on its owner alone opens it. */
  expires_at: nullable(Timestamp),
  created_at: Timestamp,
  /** Moves when the collection itself is edited. */
  updated_at: Timestamp,
});
export type Collection = Static<typeof Collection>;

const Description = Type.String({ maxLength: 20_000 });
const Fraction = Type.Number({ minimum: 0, maximum: 1 });

export const CollectionCreate = closed({
  name: NameOnOneLine,
  description: Type.Optional(nullable(Description)),
  visibility: Type.Optional(nullable(Visibility)),
  expires_at: Type.Optional(nullable(Timestamp)),
  /** A required field without a value is 422. */
  field_values: Type.Optional(GivenValues),
});
export type CollectionCreate = Static<typeof CollectionCreate>;

/** Absent and null leave a value alone, `clear_*` takes one away. */
export const CollectionUpdate = closed({
  name: Type.Optional(nullable(NameOnOneLine)),
  description: Type.Optional(nullable(Description)),
  visibility: Type.Optional(nullable(Visibility)),
  /** One of its posts. */
  cover_post_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Fraction)),
  cover_focal_y: Type.Optional(nullable(Fraction)),
  expires_at: Type.Optional(nullable(Timestamp)),
  clear_cover: Removal,
  clear_cover_focal: Removal,
  clear_expires_at: Removal,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type CollectionUpdate = Static<typeof CollectionUpdate>;

const idParams = closed({ id: Uuid });
const postParams = closed({ id: Uuid, post_id: Uuid });
const shareParams = closed({ id: Uuid, user_ref: Ref });

export const createCollection = operation({
  id: 'createCollection',
  method: 'POST',
  path: '/collections',
  tag: 'Collections',
  summary: 'Make a collection, empty at first',
  door: { holds: 'collections.create' },
  scope: 'posts.write',
  body: CollectionCreate,
  responses: { 201: Collection },
  errors: [404, 409, 422],
});

export const CollectionQuery = closed({
  ...pageQuery,
  /** One's own alone. */
  mine: Type.Optional(Type.Boolean()),
  owner_ref: Type.Optional(Ref),
  /** In the name. */
  q: Type.Optional(Type.String({ maxLength: 200 })),
  /** Those that show the caller this post; one's own also while it is a draft. */
  containing: Type.Optional(Uuid),
});
export type CollectionQuery = Static<typeof CollectionQuery>;

export const listCollections = operation({
  id: 'listCollections',
  method: 'GET',
  path: '/collections',
  tag: 'Collections',
  summary: 'Collections the caller may open, newest first',
  door: 'public',
  scope: 'read',
  query: CollectionQuery,
  responses: { 200: page(Collection) },
  errors: [],
});

export const getCollection = operation({
  id: 'getCollection',
  method: 'GET',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'One collection',
  door: 'public',
  scope: 'read',
  params: idParams,
  responses: { 200: Collection },
  errors: [404],
});

export const updateCollection = operation({
  id: 'updateCollection',
  method: 'PATCH',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Change a collection: its owner, or system.admin',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: CollectionUpdate,
  responses: { 200: Collection },
  errors: [404, 409],
});

export const deleteCollection = operation({
  id: 'deleteCollection',
  method: 'DELETE',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Put a collection into the trash, not its posts: its owner, or system.admin',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: Reason,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: [404],
});

export const listCollectionPosts = operation({
  id: 'listCollectionPosts',
  method: 'GET',
  path: '/collections/{id}/posts',
  tag: 'Collections',
  summary: 'Posts of a collection in its order',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Post) },
  errors: [404],
});

export const addToCollection = operation({
  id: 'addToCollection',
  method: 'PUT',
  path: '/collections/{id}/posts/{post_id}',
  tag: 'Collections',
  summary: 'Put a post into a collection, last; one that is in it stays where it is',
  door: 'signedIn',
  scope: 'posts.write',
  params: postParams,
  responses: { 204: noContent },
  errors: [404, 409],
});

export const removeFromCollection = operation({
  id: 'removeFromCollection',
  method: 'DELETE',
  path: '/collections/{id}/posts/{post_id}',
  tag: 'Collections',
  summary: 'Take a post out of a collection, whether it is in it or not',
  door: 'signedIn',
  scope: 'posts.write',
  params: postParams,
  responses: { 204: noContent },
  errors: [404],
});

/**
 * Either `post_id` and `before`, the post it is to stand before (null: last), or `post_ids`, which take, in this
 * order, the places they have together; whatever is not named stays where it is.
 */
export const CollectionOrder = closed({
  post_id: Type.Optional(Uuid),
  before: Type.Optional(nullable(Uuid)),
  post_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
});
export type CollectionOrder = Static<typeof CollectionOrder>;

export const orderCollection = operation({
  id: 'orderCollection',
  method: 'PUT',
  path: '/collections/{id}/order',
  tag: 'Collections',
  summary: 'Move one post of a collection (post_id, before), or several at once (post_ids)',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: CollectionOrder,
  responses: { 204: noContent },
  errors: [404],
});

export const listCollectionShares = operation({
  id: 'listCollectionShares',
  method: 'GET',
  path: '/collections/{id}/shares',
  tag: 'Collections',
  summary: 'Whom a collection is shared with: its owner and system.admin may see',
  door: 'signedIn',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Share) },
  errors: [404],
});

export const getCollectionShare = operation({
  id: 'getCollectionShare',
  method: 'GET',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Whether a collection is shared with somebody',
  door: 'signedIn',
  scope: 'read',
  params: shareParams,
  responses: { 200: Share },
  errors: [404],
});

export const putCollectionShare = operation({
  id: 'putCollectionShare',
  method: 'PUT',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Share a collection with somebody',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 200: Share, 201: Share },
  errors: [404],
});

export const deleteCollectionShare = operation({
  id: 'deleteCollectionShare',
  method: 'DELETE',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Share a collection with somebody no longer',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 204: noContent },
  errors: [404],
});
